"""How the page is built for every reader: nothing serious for axe in either theme, and a theme that holds."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe_core, listed
from tests.browser.site import Site
from tests.browser.watch import watch_of

Open = Callable[..., Page]
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
SIZES = pytest.mark.parametrize("size", ["desktop", "phone"])


def to_list(page: Page) -> None:
    button = page.get_by_role("button", name="Show the list")
    if button.is_visible():
        button.click()


@THEMES
@SIZES
def test_the_list_its_menu_and_its_choice_are_accessible(site: Site, open_page: Open, theme: str, size: str) -> None:
    site.chats(3)
    site.chat("top", "pinned one", deerflow_pinned=True)
    site.service.wait("chat-2", "boom", "go")
    page = open_page("/chats", theme=theme, size=size)
    to_list(page)
    expect(listed.rows(page)).to_have_count(4)
    assert axe_core.serious(page) == []
    listed.row(page, "chat 1").hover()
    page.get_by_role("button", name="More for chat 1").click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert axe_core.serious(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Select chats").click()
    listed.row(page, "chat 1").click()
    expect(page.get_by_role("toolbar")).to_contain_text("1 selected")
    assert axe_core.serious(page) == []


@THEMES
@SIZES
def test_the_archive_the_banner_and_the_notes_are_accessible(
    site: Site, open_page: Open, theme: str, size: str
) -> None:
    site.chat("kept", "kept aside", deerflow_archived=True)
    site.chat("also", "also kept", deerflow_archived=True)
    page = open_page("/chats/kept", theme=theme, size=size)
    expect(page.get_by_text("This chat is archived.")).to_be_visible()
    assert axe_core.serious(page) == []
    page.get_by_role("button", name="Restore chat").click()
    listed.note(page, "Restored")
    to_list(page)
    listed.tab(page, "Archived").click()
    expect(listed.row(page, "also kept")).to_be_visible()
    assert axe_core.serious(page) == []


@THEMES
def test_the_dialogs_are_accessible(site: Site, open_page: Open, theme: str) -> None:
    site.chats(3)
    page = open_page("/chats", theme=theme)
    expect(listed.rows(page)).to_have_count(3)
    page.keyboard.press("Control+/")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert axe_core.serious(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="chat 3")).to_be_visible()
    assert axe_core.serious(page) == []


@THEMES
def test_errors_and_the_page_of_an_unknown_chat_are_accessible(open_page: Open, theme: str) -> None:
    page = open_page("about:blank", theme=theme)
    watch_of(page).expect("ERR_FAILED", "status of 404")
    page.route("**/api/threads/search", lambda route: route.abort())
    page.goto("/chats/unknown")
    expect(page.get_by_role("heading", name="The chat could not be opened")).to_be_visible()
    expect(page.get_by_text("The chats could not be loaded.")).to_be_visible()
    assert axe_core.serious(page) == []
    page.unroute_all()
    page.locator("main").get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="There is no such chat")).to_be_visible()
    assert axe_core.serious(page) == []


def ground(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_the_theme_follows_the_system_until_one_is_chosen_and_then_holds(open_page: Open) -> None:
    page = open_page("/", theme="dark")
    dark = ground(page)
    page.emulate_media(color_scheme="light")
    light = ground(page)
    assert light != dark
    page.get_by_role("button", name="Theme: as the system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert ground(page) == dark
    page.reload(wait_until="commit")
    page.wait_for_selector("body", state="attached")
    assert ground(page) == dark
