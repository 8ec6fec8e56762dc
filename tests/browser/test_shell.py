"""The page as a whole: its addresses, its look and what a reader hears of it."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import axe_core, listed
from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.browser.watch import Watch, watch_of
from tests.processes import Served

Open = Callable[..., Page]


def test_a_chat_opens_at_its_own_address_from_cold(site: Site, open_page: Open) -> None:
    site.chat("tea", "All about tea")
    page = open_page("/chats/tea")
    expect(page.get_by_role("heading", level=1)).to_have_text("All about tea")
    expect(page.get_by_text("Nothing was said here yet")).to_be_visible()
    expect(listed.rows(page)).to_have_count(1)
    asked = [(path, str(body)) for _, path, body in watch_of(page).requests if path.startswith("/api/")]
    assert sorted(path for path, _ in asked) == [
        "/api/threads/count", "/api/threads/count", "/api/threads/search", "/api/threads/search",
        "/api/threads/tea/runs?limit=1", "/api/threads/tea/turns?limit=25",
    ]  # fmt: skip
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("thread_id", ["gone", "a b", "archive", "x" * 65])
def test_an_unknown_address_says_so_and_leads_to_a_new_chat(open_page: Open, thread_id: str) -> None:
    page = open_page("/")
    watch_of(page).expect("status of 4(04|22)")
    page.goto(f"/chats/{thread_id}")
    expect(page.get_by_role("heading", name="There is no such chat")).to_be_visible()
    page.get_by_role("link", name="Start a new chat").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New chat")
    assert page.url.endswith("/chats")


def test_the_vendored_axe_is_the_recorded_one() -> None:
    recorded = (axe_core.SOURCE.parent / "VENDORED.md").read_text()
    assert hashlib.sha256(axe_core.SOURCE.read_bytes()).hexdigest() in recorded


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_an_empty_service_is_accessible(open_page: Open, theme: str, size: str) -> None:
    page = open_page("/", theme=theme, size=size)
    expect(page.get_by_role("heading", level=1)).to_have_text("New chat")
    assert axe_core.serious(page) == []


def test_a_chat_is_held_on_the_service_as_its_users_start_it(tmp_path: Path, browser: Browser) -> None:
    served = Served(tmp_path / "instance")
    context = browser.new_context(base_url=served.url)
    watch = Watch(context, served.url)
    page = context.new_page()
    page.goto("/")
    reader = Reader(page)
    reader.ask("What is 6*7?")
    reader.answered("42")
    expect(page.locator(".row-title")).to_have_text("What is 6*7?")
    page.reload()
    reader.answered("42")
    context.close()
    assert served.end() == 0
    assert watch.complaints() == []
