"""Asking again, asking otherwise, and which of the answers beside each other is read; every answer is kept."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.browser.watch import watch_of
from tests.runs.gates import Gate

Open = Callable[..., Page]


def test_an_edited_question_stands_beside_the_old_one_and_both_keep_what_came_after(
    site: Site, open_page: Open
) -> None:
    site.talk("tea", "one", "two", "three", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered("echo: one", "echo: two", "echo: three")
    reader.edit(1, "deux")
    reader.answered("echo: one", "echo: deux")
    expect(reader.choice(1)).to_have_text("2/2")
    reader.ask("trois")
    reader.answered("echo: one", "echo: deux", "echo: trois")
    reader.button(1, "Previous answer").click()
    reader.answered("echo: one", "echo: two", "echo: three")
    expect(reader.choice(1)).to_have_text("1/2")
    reader.button(1, "Next answer").click()
    reader.answered("echo: one", "echo: deux", "echo: trois")
    page.reload()
    reader.answered("echo: one", "echo: deux", "echo: trois")
    expect(reader.choice(1)).to_have_text("2/2")


def test_a_regenerated_answer_stands_beside_the_old_one_on_any_turn(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", "two", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered("echo: one", "echo: two")
    reader.button(0, "Regenerate").click()
    reader.answered("echo: one")
    expect(reader.choice(0)).to_have_text("2/2")
    assert site.service.state("tea")["values"]["messages"][0]["content"] == "one"
    reader.button(0, "Previous answer").click()
    reader.answered("echo: one", "echo: two")


def test_six_edits_give_seven_answers_and_the_arrows_reach_each(site: Site, open_page: Open) -> None:
    site.talk("tea", "edit 0", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    for number in range(1, 7):
        reader.answered(f"echo: edit {number - 1}")
        reader.edit(0, f"edit {number}")
    reader.answered("echo: edit 6")
    expect(reader.choice(0)).to_have_text("7/7")
    reader.button(0, "Previous answer").focus()
    for number in range(5, -1, -1):
        page.keyboard.press("ArrowLeft")
        reader.answered(f"echo: edit {number}")
        expect(reader.choice(0)).to_have_text(f"{number + 1}/7")
    page.keyboard.press("ArrowRight")
    reader.answered("echo: edit 1")


def test_an_edit_is_saved_by_ctrl_enter_left_by_escape_and_refused_while_unchanged(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    box = page.get_by_role("textbox", name="Edit the question")
    reader.turn(0).hover()
    reader.button(0, "Edit").click()
    expect(box).to_be_focused()
    expect(page.get_by_role("button", name="Ask this")).to_be_disabled()
    box.fill(" one ")
    expect(page.get_by_role("button", name="Ask this")).to_be_disabled()
    box.press("Escape")
    expect(reader.button(0, "Edit")).to_be_focused()
    assert reader.questions() == ["one"]
    reader.button(0, "Edit").click()
    box.fill("uno")
    box.press("Control+Enter")
    reader.answered("echo: uno")
    expect(reader.box).to_be_focused()


def test_a_refused_edit_says_why_and_keeps_the_text(site: Site, open_page: Open, gate: Gate) -> None:
    site.talk("tea", "one", assistant="held")
    page = open_page("/chats/tea")
    watch_of(page).expect("status of 409")
    reader = Reader(page)
    reader.turn(0).hover()
    reader.button(0, "Edit").click()
    box = page.get_by_role("textbox", name="Edit the question")
    box.fill("uno")
    site.service.start("tea", "held", gate.text)
    page.get_by_role("button", name="Ask this").click()
    expect(page.get_by_role("alert")).to_contain_text("run")
    expect(box).to_have_value("uno")
    gate.open()
    reader.answered("", f"echo: {gate.text}")
    expect(box).to_have_value("uno")


def test_while_an_answer_comes_nothing_else_can_be_asked_and_the_reason_is_told(
    site: Site, open_page: Open, gate: Gate
) -> None:
    site.talk("tea", "one", assistant="held")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered("echo: one")
    reader.ask(gate.text)
    regenerate = reader.turn(0).get_by_role("button", name="Regenerate")
    expect(regenerate).to_be_disabled()
    expect(regenerate).to_have_attribute("title", "Regenerate: Wait for the answer, or stop it")
    gate.open()
    expect(regenerate).to_be_enabled()


def test_an_edit_that_fails_leaves_the_answer_and_can_be_tried_again(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", "two", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered("echo: one", "echo: two")
    reader.edit(1, "!boom")
    expect(page.get_by_role("alert")).to_contain_text("The new answer failed: ValueError: boom")
    reader.answered("echo: one", "echo: two")
    page.get_by_role("button", name="Try again").click()
    failed = reader.turn(1).get_by_role("button", name="failed tries")
    expect(failed).to_have_text("2 failed tries")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    failed.click()
    expect(page.get_by_role("treeitem")).to_have_count(4)
    expect(page.get_by_role("tree").get_by_text("failed", exact=True)).to_have_count(2)


def test_a_branch_is_a_chat_of_its_own_that_goes_on_from_an_older_turn(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", "two", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered("echo: one", "echo: two")
    reader.button(0, "Branch from here").click()
    expect(page).not_to_have_url(re.compile("/chats/tea$"))
    reader.answered("echo: one")
    expect(page.get_by_role("link", name="another chat")).to_have_attribute("href", "/chats/tea")
    reader.ask("deux")
    reader.answered("echo: one", "echo: deux")
    page.go_back()
    reader.answered("echo: one", "echo: two")


def test_an_inherited_turn_that_cannot_be_replayed_says_so(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", "two", assistant="chat")
    answer = site.service.get("tea", "/turns")["turns"][1]["message_ids"][-1]
    made = site.service.ask("POST", "/threads/tea/branches", {"message_id": answer})["thread_id"]
    page = open_page(f"/chats/{made}")
    watch_of(page).expect("status of 409")
    reader = Reader(page)
    reader.answered("echo: one", "echo: two")
    reader.button(0, "Regenerate").click()
    expect(reader.turn(0).get_by_role("alert")).to_contain_text("tea")
    reader.button(1, "Regenerate").click()
    expect(reader.choice(1)).to_have_text("2/2")


def test_a_question_that_waits_is_not_left_by_accident(site: Site, open_page: Open) -> None:
    site.talk("tea", "please", assistant="ask")
    page = open_page("/chats/tea")
    page.get_by_role("form", name="The agent asks").get_by_role("button", name="no").click()
    reader = Reader(page)
    reader.answered("approved=False")
    reader.edit(0, "pretty please")
    asking = page.get_by_role("form", name="The agent asks")
    expect(asking).to_be_visible()
    reader.button(0, "Previous answer").click()
    expect(reader.turn(0).get_by_role("alert")).to_contain_text("answer it first")
    asking.get_by_role("button", name="yes").click()
    reader.answered("approved=True")
    reader.button(0, "Previous answer").click()
    reader.answered("approved=False")
