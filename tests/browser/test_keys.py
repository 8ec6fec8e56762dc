"""The page without a pointer: keys, the palette, menus, dialogs, and where the focus goes."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import listed
from tests.browser.site import Site

Open = Callable[..., Page]


def test_the_palette_runs_commands_and_opens_chats_archived_ones_too(site: Site, open_page: Open) -> None:
    site.chats(3)
    site.chat("kept", "kept aside", deerflow_archived=True)
    page = open_page("/chats/chat-1")
    page.keyboard.press("Control+k")
    words = page.get_by_role("combobox", name="Search chats and commands")
    expect(words).to_be_focused()
    words.fill("kept")
    expect(page.get_by_role("option", name="kept aside archived")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("kept aside")
    page.keyboard.press("Control+k")
    words.fill("archived ch")
    page.keyboard.press("Enter")
    expect(listed.tab(page, "Archived")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Control+k")
    words.fill("zzz")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_palette_walks_with_the_arrow_keys(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search chats and commands").fill("chat ")
    expect(page.get_by_role("option", name="chat 3")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name="chat 2")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option").last).to_have_attribute("aria-selected", "true")


def test_every_key_is_listed_and_they_can_be_switched_off(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("/chats/chat-1")
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 1")
    page.locator("h1").click()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    for label in ("Search and commands", "New chat", "Show or hide the list", "Archive this chat", "Undo"):
        expect(dialog.get_by_text(label, exact=True)).to_be_visible()
    dialog.get_by_label("Use keyboard shortcuts").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("e")
    page.keyboard.press("Control+b")
    expect(listed.rows(page)).to_have_count(2)
    page.reload()
    expect(listed.rows(page)).to_have_count(2)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[aria-keyshortcuts]")).to_have_count(0)
    page.get_by_role("button", name="Keyboard shortcuts").click()
    dialog.get_by_label("Use keyboard shortcuts").check()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search and commands")).to_be_visible()
    assert not site.archived("chat-1")


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ("Control+Shift+O", "New chat"),
        ("Control+Shift+o", "New chat"),
        ("Control+/", "Keyboard shortcuts"),
        ("F2", "Title"),
        ("/", "Search titles"),
    ],
)
def test_a_key_does_what_the_list_of_keys_says(site: Site, open_page: Open, keys: str, shown: str) -> None:
    site.chat("tea", "Tea")
    page = open_page("/chats/tea")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tea")
    if keys == "/":
        page.locator("h1").click()
    page.keyboard.press(keys)
    places = {
        "New chat": page.get_by_role("heading", name="New chat", level=1),
        "Keyboard shortcuts": page.get_by_role("dialog", name="Keyboard shortcuts"),
        "Title": page.get_by_role("textbox", name="Title"),
        "Search titles": page.locator("#search:focus"),
    }
    expect(places[shown]).to_be_visible()


def test_bare_keys_are_left_to_somebody_who_is_typing(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    page = open_page("/chats/tea")
    box = page.get_by_role("searchbox")
    box.click()
    page.keyboard.type("tee?/e")
    expect(box).to_have_value("tee?/e")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert not site.archived("tea")


def test_a_row_menu_is_walked_by_keys_and_gives_the_focus_back(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats")
    listed.rows(page).first.focus()
    page.keyboard.press("ArrowDown")
    expect(listed.rows(page).nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    button = page.get_by_role("button", name="More for chat 2")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Archive chat").press("Enter")
    expect(listed.row(page, "chat 2")).to_have_count(0)
    expect(listed.row(page, "chat 1").locator("a")).to_be_focused()


def test_a_menu_closes_when_something_else_is_clicked(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("/chats")
    listed.row(page, "chat 1").hover()
    page.get_by_role("button", name="More for chat 1").click()
    expect(page.get_by_role("menu")).to_be_visible()
    page.locator("#main").click()
    expect(page.get_by_role("menu")).to_have_count(0)


def test_a_dialog_keeps_the_focus_and_gives_it_back(open_page: Open) -> None:
    page = open_page("/chats")
    button = page.get_by_role("button", name="Keyboard shortcuts")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    dialog.get_by_role("button", name="Close").click()
    expect(button).to_be_focused()


def test_the_tabs_are_walked_by_the_arrow_keys(site: Site, open_page: Open) -> None:
    site.chat("kept", "kept", deerflow_archived=True)
    page = open_page("/chats")
    listed.tab(page, "Recent").focus()
    page.keyboard.press("ArrowRight")
    expect(listed.tab(page, "Archived")).to_be_focused()
    expect(listed.row(page, "kept")).to_be_visible()
    expect(page).to_have_url(page.url.split("/chats")[0] + "/chats/archived")


def test_a_note_waits_while_the_focus_is_on_it(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("about:blank")
    page.clock.install()
    page.goto("/chats")
    listed.choose(page, "chat 1", "Archive chat")
    note = listed.note(page, "Archived")
    page.clock.run_for(6000)
    expect(note).to_be_visible()
    note.get_by_role("button", name="Undo").focus()
    page.clock.run_for(60_000)
    expect(note).to_be_visible()
    page.get_by_role("searchbox").focus()
    page.clock.run_for(10_000)
    expect(note).to_have_count(0)
    assert site.archived("chat-1")
