"""The page where callers need a token: it leads to the sign-in and back, and each reader sees their own chats."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe_core, listed
from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.browser.watch import watch_of

Open = Callable[..., Page]


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"auth": "tokens"}


def token(site: Site, owner: str) -> str:
    return str(site.service.gateway.accounts.create(owner)[1])


def signed_in(open_page: Open, secret: str, path: str = "/chats") -> Page:
    page = open_page("about:blank")
    watch_of(page).expect("status of 401")
    page.goto(path)
    page.get_by_label("Your token").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    return page


def test_a_reader_without_a_session_signs_in_and_comes_to_where_they_wanted(site: Site, open_page: Open) -> None:
    secret = token(site, "alice")
    bearer = {"headers": {"Authorization": f"Bearer {secret}"}}
    site.service.ask("POST", "/threads", {"thread_id": "tea", "title": "Alice's tea"}, **bearer)
    page = signed_in(open_page, secret, "/chats/tea")
    expect(page).to_have_url(f"{site.url}/chats/tea")
    expect(page.get_by_role("heading", level=1)).to_have_text("Alice's tea")
    reader = Reader(page)
    reader.ask("What is 6*7?")
    reader.answered("42")
    listed.choose(page, "Alice's tea", "Archive chat")
    listed.note(page, "Archived")
    listed.counted(page, 0, 1)


def test_readers_see_their_own_chats_only(site: Site, open_page: Open) -> None:
    alice, bob = token(site, "alice"), token(site, "bob")
    bearer = {"headers": {"Authorization": f"Bearer {alice}"}}
    site.service.ask("POST", "/threads", {"thread_id": "tea", "title": "Alice's tea"}, **bearer)
    page = signed_in(open_page, bob)
    watch_of(page).expect("status of 404")
    expect(page.get_by_text("No chats yet.")).to_be_visible()
    page.goto("/chats/tea")
    expect(page.get_by_role("heading", name="There is no such chat")).to_be_visible()


def test_a_reader_who_signs_out_or_whose_token_is_revoked_is_asked_again(site: Site, open_page: Open) -> None:
    known, secret = site.service.gateway.accounts.create("alice")
    page = signed_in(open_page, secret)
    page.get_by_role("link", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto("/chats")
    expect(page.get_by_label("Your token")).to_be_visible()
    assert axe_core.serious(page) == []
    page.get_by_label("Your token").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("No chats yet.")).to_be_visible()
    site.service.gateway.accounts.revoke(known.token_id)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_label("Your token")).to_be_visible()
