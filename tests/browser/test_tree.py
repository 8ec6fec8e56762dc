"""The tree of a conversation and its states, beside it on a wide screen and over it on a narrow one."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chatting import Reader
from tests.browser.site import Site

Open = Callable[..., Page]


@pytest.fixture
def forked(site: Site) -> Site:
    """one → two → three, beside two: deux → trois, which is selected; the second edit of two failed."""
    site.talk("tea", "one", "two", "three", assistant="chat")
    ask = site.service.ask
    two = site.service.get("tea", "/turns")["turns"][1]["human_message_id"]
    for text in ("deux", "!boom"):
        run = ask("POST", "/threads/tea/runs/edit", {"human_message_id": two, "replacement_text": text})
        site.service.join("tea", run["run_id"])
        two = site.service.get("tea", "/turns")["turns"][1]["human_message_id"]
    site.service.wait("tea", "chat", "trois")
    return site


def test_the_tree_shows_every_turn_where_the_reader_stands_and_what_failed(forked: Site, open_page: Open) -> None:
    page = open_page("/chats/tea")
    rows = Reader(page).tree()
    expect(rows).to_have_count(6)
    assert [row.split("\n")[0] for row in rows.all_inner_texts()] == ["one", "two", "three", "deux", "trois", "!boom"]
    assert rows.evaluate_all("rows => rows.map(row => row.ariaLevel)") == ["1", "2", "2", "2", "2", "2"]
    assert rows.evaluate_all("rows => rows.map(row => row.ariaSelected)") == [
        "true", "false", "false", "true", "true", "false",
    ]  # fmt: skip
    expect(page.locator(".tree [aria-current=true]")).to_contain_text("trois")
    expect(rows.nth(5)).to_contain_text("failed")
    expect(rows.nth(1)).to_contain_text("1/3")


def test_a_click_goes_to_a_turn_and_its_whole_branch(forked: Site, open_page: Open) -> None:
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.tree().filter(has_text="two").click()
    reader.answered("echo: one", "echo: two", "echo: three")
    expect(page.locator(".tree [aria-current=true]")).to_contain_text("three")
    reader.tree().filter(has_text="deux").click()
    reader.answered("echo: one", "echo: deux", "echo: trois")


def test_the_tree_is_walked_and_used_by_keyboard(forked: Site, open_page: Open) -> None:
    page = open_page("/chats/tea")
    reader = Reader(page)
    page.get_by_role("button", name="Tree of this chat").press("Enter")
    expect(page.get_by_role("treeitem")).to_have_count(6)
    page.locator(".tree [aria-current=true]").focus()
    for key in ("Home", "ArrowDown"):
        page.keyboard.press(key)
    expect(reader.tree().nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    reader.answered("echo: one", "echo: two", "echo: three")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tree")).to_have_count(0)
    expect(page.get_by_role("button", name="Tree of this chat")).to_be_focused()


def test_a_failed_try_cannot_be_stood_on_and_says_so(forked: Site, open_page: Open) -> None:
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.tree().filter(has_text="!boom").click()
    expect(page.get_by_role("alert")).to_have_text("This try holds no answer that can be gone to.")
    reader.answered("echo: one", "echo: deux", "echo: trois")


def test_the_next_message_goes_on_from_a_turn_that_was_chosen(forked: Site, open_page: Open) -> None:
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.tree().filter(has_text="two").click()
    reader.answered("echo: one", "echo: two", "echo: three")
    page.get_by_role("button", name="Continue from here").click()
    reader.answered("echo: one", "echo: two")
    reader.ask("drei")
    reader.answered("echo: one", "echo: two", "echo: drei")
    expect(reader.choice(2)).to_have_text("2/2")
    expect(reader.tree()).to_have_count(7)


def test_a_turn_beside_the_path_is_deleted_when_its_note_has_gone_and_can_be_taken_back(
    forked: Site, open_page: Open
) -> None:
    page = open_page("/chats/tea")
    rows = Reader(page).tree()
    two = forked.service.get("tea", "/tree?texts=1")["turns"][1]
    rows.nth(0).focus()
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(rows).to_have_count(4)
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(6)
    rows.nth(1).focus()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Deleted 2 turns")).to_be_visible()
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as gone:
        page.get_by_role("button", name="Dismiss").click()
    assert gone.value.url.endswith(two["turn_id"])
    expect(rows).to_have_count(4)
    assert [turn["question"] for turn in forked.service.get("tea", "/tree?texts=1")["turns"]] == [
        "one", "deux", "trois", "!boom",
    ]  # fmt: skip


def test_on_a_phone_the_tree_covers_the_chat_and_leaves_when_a_turn_was_chosen(forked: Site, open_page: Open) -> None:
    page = open_page("/chats/tea", size="phone")
    reader = Reader(page)
    reader.tree().filter(has_text="two").click()
    expect(page.get_by_role("tree")).to_have_count(0)
    reader.answered("echo: one", "echo: two", "echo: three")
    expect(page.get_by_text("echo: two")).to_be_in_viewport()


def test_a_long_chat_alone_is_scrolled_and_its_tree_opens_where_the_reader_stands(site: Site, open_page: Open) -> None:
    site.talk("tea", *(f"line {number}" for number in range(14)), assistant="chat")
    last = site.service.get("tea", "/turns")["turns"][-1]["human_message_id"]
    edit = {"human_message_id": last, "replacement_text": "the end"}
    site.service.join("tea", site.service.ask("POST", "/threads/tea/runs/edit", edit)["run_id"])
    page = open_page("/chats/tea", size="phone")
    expect(page.locator(".switcher")).to_contain_text("2/2")
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    expect(Reader(page).tree()).to_have_count(15)
    expect(page.locator(".tree [aria-current=true]")).to_be_in_viewport()


def test_the_state_is_shown_at_any_checkpoint_and_cannot_be_changed(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", "two", "three", assistant="chat")
    before = site.service.counts()
    page = open_page("/chats/tea")
    page.get_by_role("button", name="State of this chat").click()
    steps = page.get_by_role("list", name="Checkpoints, newest first").get_by_role("button", name="Step")
    expect(steps).to_have_count(10)
    page.get_by_role("button", name="Older checkpoints").click()
    stored = site.service.history("tea")
    expect(steps).to_have_count(len(stored))
    expect(page.get_by_role("button", name="Older checkpoints")).to_have_count(0)
    expect(steps.first).to_contain_text("head")
    steps.nth(4).click()
    expect(steps.nth(4)).to_have_attribute("aria-pressed", "true")
    state = page.get_by_role("region", name="State at the chosen checkpoint")
    expect(state.get_by_role("heading")).to_have_text(stored[4]["checkpoint_id"])
    state.get_by_text("values", exact=True).click(trial=True)
    expect(state).to_contain_text(f'"{stored[4]["values"]["title"]}"')
    assert state.get_by_role("textbox").count() == 0
    assert site.service.counts() == before
