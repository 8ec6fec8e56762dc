"""Filing away from the page: archive, restore and delete, one and many, each with a way back."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

from playwright.sync_api import Page, expect

from tests.browser import listed
from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.browser.watch import watch_of
from tests.runs.gates import Gate
from tests.service import until

Open = Callable[..., Page]


def test_an_archived_chat_moves_to_the_other_tab_and_changes_nothing_else(site: Site, open_page: Open) -> None:
    site.chats(3)
    before = site.service.get("chat-2")
    page = open_page("/chats")
    listed.choose(page, "chat 2", "Archive chat")
    listed.note(page, "Archived “chat 2”")
    listed.counted(page, 2, 1)
    assert listed.titles(page) == ["chat 3", "chat 1"]
    listed.tab(page, "Archived").click()
    expect(page).to_have_url(f"{site.url}/chats/archived")
    expect(listed.row(page, "chat 2")).to_be_visible()
    after = site.service.get("chat-2")
    assert after == before | {"metadata": {"deerflow_archived": True}}


def test_an_archive_is_undone_by_its_note_with_the_pointer_and_by_key(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats")
    listed.choose(page, "chat 3", "Archive chat")
    undo = listed.note(page, "Archived").get_by_role("button", name="Undo")
    undo.focus()
    expect(undo).to_be_focused()
    page.keyboard.press("Enter")
    expect(listed.row(page, "chat 3")).to_be_visible()
    until(lambda: not site.archived("chat-3"))
    listed.choose(page, "chat 3", "Archive chat")
    listed.note(page, "Archived")
    page.keyboard.press("Control+z")
    expect(listed.row(page, "chat 3")).to_be_visible()
    until(lambda: not site.archived("chat-3"))
    assert listed.titles(page) == ["chat 3", "chat 2", "chat 1"]


def test_the_only_chat_is_found_again_in_the_archive_and_restored(site: Site, open_page: Open) -> None:
    site.chat("only", "the only one", deerflow_archived=True)
    page = open_page("/")
    expect(page.get_by_text("No chats yet.")).to_be_visible()
    listed.counted(page, 0, 1)
    listed.tab(page, "Archived").click()
    listed.choose(page, "the only one", "Restore chat")
    listed.note(page, "Restored “the only one”")
    expect(page.get_by_text("Nothing is archived.")).to_be_visible()
    listed.tab(page, "Recent").click()
    expect(listed.row(page, "the only one")).to_be_visible()
    assert not site.archived("only")


def test_an_archived_chat_opens_at_its_address_with_a_banner_that_restores_it(site: Site, open_page: Open) -> None:
    site.chat("kept", "kept for later", deerflow_archived=True)
    page = open_page("/chats/kept")
    expect(page.get_by_text("This chat is archived.")).to_be_visible()
    expect(listed.tab(page, "Archived")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Restore chat").click()
    expect(page.get_by_text("This chat is archived.")).to_have_count(0)
    listed.note(page, "Restored")
    listed.counted(page, 1, 0)
    assert (site.archived("kept"), page.url) == (False, f"{site.url}/chats/kept")


def test_the_open_chat_is_archived_by_its_key_and_stays_open(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("/chats/chat-1")
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 1")
    page.locator("h1").click()
    page.keyboard.press("e")
    expect(page.get_by_text("This chat is archived.")).to_be_visible()
    assert listed.titles(page) == ["chat 2"]
    page.keyboard.press("Control+Shift+X")
    expect(page.get_by_text("This chat is archived.")).to_have_count(0)
    expect(listed.row(page, "chat 1")).to_be_visible()


def test_many_are_chosen_with_shift_and_archived_in_one_request(site: Site, open_page: Open) -> None:
    site.chats(6)
    page = open_page("/chats")
    page.get_by_role("button", name="Select chats").click()
    listed.row(page, "chat 5").click()
    listed.row(page, "chat 2").click(modifiers=["Shift"])
    listed.row(page, "chat 4").click()
    expect(page.get_by_role("toolbar")).to_contain_text("3 selected")
    page.get_by_role("button", name="Archive").click()
    listed.note(page, "Archived 3 chats").get_by_role("button", name="Undo").hover()
    assert listed.titles(page) == ["chat 6", "chat 4", "chat 1"]
    asked = watch_of(page).asked("POST", "/api/threads/archive")
    assert asked == [{"thread_ids": ["chat-5", "chat-3", "chat-2"], "archived": True}]
    assert [site.archived(f"chat-{n}") for n in range(1, 7)] == [False, True, True, False, True, False]
    listed.note(page, "Archived 3 chats").get_by_role("button", name="Undo").click()
    expect(listed.rows(page)).to_have_count(6)
    assert listed.titles(page) == [f"chat {n}" for n in range(6, 0, -1)]


def test_choosing_all_takes_what_is_loaded_and_escape_leaves_the_choice(site: Site, open_page: Open) -> None:
    site.chats(4)
    page = open_page("/chats")
    listed.choose(page, "chat 2", "Select")
    expect(page.get_by_role("toolbar")).to_contain_text("1 selected")
    page.get_by_role("button", name="All").click()
    expect(page.get_by_role("toolbar")).to_contain_text("4 selected")
    page.keyboard.press("Escape")
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(listed.rows(page)).to_have_count(4)


def test_a_bulk_archive_that_the_service_refuses_changes_nothing_and_says_why(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(3)
    watch_of(page).expect("status of 404")
    site.service.ask("DELETE", "/threads/chat-1", status=204)
    page.get_by_role("button", name="Select chats").click()
    page.get_by_role("button", name="All").click()
    page.get_by_role("button", name="Archive").click()
    listed.note(page, "chat-1")
    expect(listed.rows(page)).to_have_count(2)
    assert [site.archived(f"chat-{n}") for n in (2, 3)] == [False, False]


def test_a_deleted_chat_is_hidden_at_once_and_deleted_when_its_note_ends(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats/chat-2")
    listed.choose(page, "chat 2", "Delete")
    expect(page).to_have_url(f"{site.url}/chats")
    note = listed.note(page, "Deleted “chat 2”")
    assert listed.titles(page) == ["chat 3", "chat 1"]
    listed.counted(page, 2, 0)
    assert site.service.get("chat-2")["title"] == "chat 2"
    note.get_by_role("button", name="Dismiss").click()
    until(lambda: site.service.call("GET", "/threads/chat-2").status_code == 404)
    listed.counted(page, 2, 0)


def test_a_deletion_is_taken_back_by_its_note_or_by_opening_the_chat_again(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("/chats")
    listed.choose(page, "chat 2", "Delete")
    listed.note(page, "Deleted").get_by_role("button", name="Undo").click()
    expect(listed.row(page, "chat 2")).to_be_visible()
    listed.row(page, "chat 1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 1")
    listed.row(page, "chat 2").click()
    listed.choose(page, "chat 1", "Delete")
    expect(listed.row(page, "chat 1")).to_have_count(0)
    page.go_back()
    expect(listed.row(page, "chat 1")).to_be_visible()
    expect(page.locator(".toast")).to_have_count(0)
    assert watch_of(page).asked("DELETE", "/api/threads/chat-1") == []


def test_leaving_the_page_sends_a_deletion_that_still_waits(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("/chats")
    listed.choose(page, "chat 1", "Delete")
    listed.note(page, "Deleted")
    page.goto("about:blank")
    until(lambda: site.service.call("GET", "/threads/chat-1").status_code == 404)


def test_a_deletion_that_is_refused_brings_the_chat_back_and_says_why(site: Site, open_page: Open, gate: Gate) -> None:
    site.chat("busy", "still answering")
    site.service.start("busy", "held", gate.text)
    gate.await_reached()
    page = open_page("/chats")
    expect(listed.row(page, "still answering").get_by_text("Answering", exact=True)).to_be_visible()
    watch_of(page).expect("status of 409")
    listed.choose(page, "still answering", "Delete")
    listed.note(page, "Deleted").get_by_role("button", name="Dismiss").click()
    listed.note(page, "“still answering” was not deleted.")
    expect(listed.row(page, "still answering")).to_be_visible()
    gate.open()
    expect(listed.row(page, "still answering").get_by_text("Answering", exact=True)).to_have_count(0)


def test_an_archived_chat_goes_on_and_stays_archived(site: Site, open_page: Open) -> None:
    site.talk("kept", "What is 6*7?")
    site.service.ask("PATCH", "/threads/kept", {"metadata": {"deerflow_archived": True}})
    page = open_page("/chats/kept")
    reader = Reader(page)
    reader.answered("42")
    reader.ask("What is 2+3?")
    reader.answered("42", "5")
    expect(page.get_by_text("This chat is archived.")).to_be_visible()
    listed.counted(page, 0, 1)
    assert site.archived("kept")


def test_a_write_that_fails_in_the_service_is_taken_back_and_tells_the_request_to_look_up(
    site: Site, open_page: Open
) -> None:
    site.chats(2)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(2)
    watch_of(page).expect("status of 503")
    with closing(sqlite3.connect(site.service.gateway.config.database)) as other:
        other.execute("BEGIN IMMEDIATE")
        listed.choose(page, "chat 1", "Archive chat")
        expect(listed.row(page, "chat 1")).to_have_count(0)
        note = page.locator(".toast").filter(has_text="the database is busy")
        expect(note).to_contain_text("(request ", timeout=12_000)
        other.rollback()
    expect(listed.row(page, "chat 1")).to_be_visible()
    assert not site.archived("chat-1")
