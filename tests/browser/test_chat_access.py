"""What axe-core finds in a conversation and beside it, in both themes, wide and narrow."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe_core
from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.runs.gates import Gate

Open = Callable[..., Page]
MARKDOWN = "# A\n\n- [x] done\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> said\n\n```python\nreturn 1  # one\n```\n"
LOOKS = [(theme, size) for theme in ("light", "dark") for size in ("desktop", "phone")]


@pytest.mark.parametrize(("theme", "size"), LOOKS)
def test_a_conversation_its_tree_and_its_state_are_accessible(
    site: Site, open_page: Open, theme: str, size: str
) -> None:
    site.talk("tea", "see\n\n" + MARKDOWN, "two", assistant="chat")
    site.talk("tea", "What is 2*(3+4)?", assistant="agent")
    page = open_page("/chats/tea", theme=theme, size=size)
    reader = Reader(page)
    reader.answered("see", "two", "14")
    reader.button(1, "Regenerate").click()
    expect(reader.choice(1)).to_have_text("2/2")
    reader.edit(1, "!boom")
    expect(page.get_by_role("alert")).to_contain_text("The new answer failed")
    reader.button(1, "Edit").click()
    assert axe_core.serious(page) == []
    expect(reader.tree()).to_have_count(5)
    assert axe_core.serious(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="State of this chat").click()
    expect(page.locator(".values")).to_contain_text("values")
    assert axe_core.serious(page) == []


@pytest.mark.parametrize(("theme", "size"), LOOKS)
def test_a_question_a_failure_and_an_answer_that_comes_are_accessible(
    site: Site, open_page: Open, gate: Gate, theme: str, size: str
) -> None:
    site.talk("asks", "please", assistant="ask")
    site.talk("fails", "please", assistant="boom")
    site.chat("comes", "Comes", graph_id="telling")
    page = open_page("/chats/asks", theme=theme, size=size)
    expect(page.get_by_role("form", name="The agent asks")).to_be_visible()
    assert axe_core.serious(page) == []
    page.goto("/chats/fails")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    assert axe_core.serious(page) == []
    page.goto("/chats/comes")
    Reader(page).ask(gate.text)
    expect(Reader(page).turn(0)).to_contain_text("telling")
    assert axe_core.serious(page) == []


def test_what_happens_is_told_once_and_in_words(site: Site, open_page: Open, gate: Gate) -> None:
    site.chat("tea", "Tea", graph_id="telling")
    page = open_page("/chats/tea")
    told = page.locator(".chat-column > [role=status]")
    Reader(page).ask(gate.text)
    expect(told).to_have_text("Answering")
    gate.open()
    expect(told).to_have_text("The answer is complete")
    Reader(page).answered(gate.text)
    expect(page.get_by_role("log")).to_have_attribute("aria-busy", "false")


def test_every_control_of_a_conversation_has_a_name_and_a_large_target_on_a_phone(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", assistant="chat")
    page = open_page("/chats/tea", size="phone")
    Reader(page).answered("echo: one")
    controls = page.locator(".chat button, .chat select, .chat textarea, .chat summary")
    names = controls.evaluate_all("all => all.map(one => one.getAttribute('aria-label') || one.textContent.trim())")
    assert "" not in names
    sizes = controls.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert [size for size in sizes if size and size < 44] == []


def test_the_list_over_a_chat_takes_the_focus_without_a_ring_and_gives_it_back(open_page: Open) -> None:
    page = open_page("/chats/archived", size="phone")
    drawer = page.get_by_role("complementary", name="List of chats")
    expect(drawer).to_be_focused()
    expect(drawer).to_have_css("outline-style", "none")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Show the list")).to_be_focused()
