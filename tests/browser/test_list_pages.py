"""The list page by page: what it asks for, that every chat appears once, and that nothing is skipped after a change."""

import sqlite3
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import listed
from tests.browser.site import Site
from tests.browser.watch import watch_of

Open = Callable[..., Page]
ALL = "That is all"


def searches(page: Page) -> list[dict[str, Any]]:
    return watch_of(page).asked("POST", "/api/threads/search")


def filled(site: Site) -> tuple[list[str], list[str]]:
    """Make 120 chats, 55 archived ones and one from before there was a flag; give both lists in the page's order."""
    recent = site.chats(120, "open", deerflow_archived=False)
    archived = site.chats(55, "kept", deerflow_archived=True)
    old = site.chat("old", "the old one")
    with sqlite3.connect(site.service.gateway.config.database) as connection:
        connection.execute("UPDATE threads SET metadata = '{}', updated_at = '2020-01-01' WHERE thread_id = ?", [old])
    connection.close()
    return [f"open {n}" for n in range(len(recent), 0, -1)] + ["the old one"], [
        f"kept {n}" for n in range(len(archived), 0, -1)
    ]


def test_every_chat_appears_once_and_every_request_says_which_list_it_is_for(site: Site, open_page: Open) -> None:
    recent, archived = filled(site)
    page = open_page("/chats")
    listed.to_the_end(page, ALL)
    assert listed.titles(page) == recent
    expect(page.locator(".rows .end")).to_have_text("That is all: 121 chats")
    listed.counted(page, 121, 55)
    listed.tab(page, "Archived").click()
    listed.to_the_end(page, ALL)
    assert listed.titles(page) == archived
    expect(page.locator(".rows .end")).to_have_text("That is all: 55 archived chats")
    asked = searches(page)
    assert [body["archived"] for body in asked] == [False] * 3 + [True] * 2
    assert ["cursor" in body for body in asked] == [False, True, True, False, True]
    assert [body for body in asked if "offset" in body] == []
    counts = watch_of(page).asked("POST", "/api/threads/count")
    assert {str(body["archived"]) for body in counts} == {"True", "False"}


def test_after_an_archive_the_next_pages_neither_skip_nor_repeat(site: Site, open_page: Open) -> None:
    recent, archived = filled(site)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(50)
    for title in ("open 120", "open 100", "open 72"):
        listed.choose(page, title, "Archive chat")
        expect(listed.row(page, title)).to_have_count(0)
        recent.remove(title)
    listed.to_the_end(page, ALL)
    assert listed.titles(page) == recent
    listed.counted(page, 118, 58)
    listed.tab(page, "Archived").click()
    expect(listed.rows(page)).to_have_count(50)
    listed.choose(page, "kept 55", "Restore chat")
    expect(listed.row(page, "kept 55")).to_have_count(0)
    listed.to_the_end(page, ALL)
    assert listed.titles(page) == [*archived[1:], "open 120", "open 100", "open 72"]
    assert all(isinstance(body["archived"], bool) for body in searches(page))
    assert all("offset" not in body for body in searches(page))


def test_a_restored_chat_stands_at_its_old_place_wherever_the_list_has_come_to(site: Site, open_page: Open) -> None:
    recent, _ = filled(site)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(50)
    listed.choose(page, "open 90", "Archive chat")
    listed.note(page, "Archived “open 90”").get_by_role("button", name="Undo").click()
    expect(listed.row(page, "open 90")).to_be_visible()
    listed.to_the_end(page, ALL)
    assert listed.titles(page) == recent


def test_a_page_that_cannot_be_loaded_says_so_and_is_asked_for_again(site: Site, open_page: Open) -> None:
    site.chats(60)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(50)
    watch_of(page).expect("ERR_INTERNET_DISCONNECTED")
    page.context.set_offline(True)
    page.locator(".rows .end").scroll_into_view_if_needed()
    expect(page.locator(".rows .end")).to_contain_text(
        "The next chats could not be loaded. The service cannot be reached."
    )
    expect(listed.rows(page)).to_have_count(50)
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    listed.to_the_end(page, ALL)
    expect(listed.rows(page)).to_have_count(60)


def test_a_list_that_cannot_be_loaded_never_looks_empty(site: Site, open_page: Open) -> None:
    page = open_page("about:blank")
    watch_of(page).expect("ERR_FAILED")
    page.route("**/api/threads/**", lambda route: route.abort())
    page.goto("/chats")
    expect(page.get_by_role("alert")).to_contain_text("The chats could not be loaded.")
    expect(page.get_by_text("No chats yet")).to_have_count(0)
    expect(listed.tab(page, "Recent")).to_have_text("Recent ")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No chats yet.")).to_be_visible()


def test_hiding_and_showing_the_list_loses_nothing(site: Site, open_page: Open) -> None:
    site.chats(60)
    page = open_page("/chats")
    listed.to_the_end(page, ALL)
    before = len(searches(page))
    page.get_by_role("button", name="Hide the list").click()
    expect(listed.rows(page).first).to_be_hidden()
    page.get_by_role("button", name="Show the list").click()
    expect(listed.rows(page)).to_have_count(60)
    assert len(searches(page)) == before


def test_what_another_window_did_is_seen_when_the_page_is_looked_at_again(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(3)
    site.chat("fresh", "from elsewhere")
    site.service.ask("DELETE", "/threads/chat-1", status=204)
    site.service.ask("PATCH", "/threads/chat-2", {"metadata": {"deerflow_archived": True}})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(listed.row(page, "from elsewhere")).to_be_visible()
    assert listed.titles(page) == ["from elsewhere", "chat 3"]
    listed.counted(page, 2, 1)
