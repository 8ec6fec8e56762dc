"""The list by day and time: pins on top, groups by the reader's own calendar day, times that go on."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser import listed
from tests.browser.site import Site

Open = Callable[..., Page]


def stamp(site: Site, thread_id: str, moment: str) -> None:
    """Set when a chat was last used, as a service that ran then would have."""
    with sqlite3.connect(site.service.gateway.config.database) as connection:
        connection.execute("UPDATE threads SET updated_at = ? WHERE thread_id = ?", (moment, thread_id))
    connection.close()


def groups(page: Page) -> dict[str, list[str]]:
    """Give the titles below each heading of the list."""
    found = page.locator(".rows section").all()
    return {part.get_attribute("aria-label") or "": part.locator(".row-title").all_text_contents() for part in found}


def test_pinned_chats_stand_on_top_and_the_rest_newest_first(site: Site, open_page: Open) -> None:
    site.chats(4)
    page = open_page("/chats")
    listed.choose(page, "chat 2", "Pin")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    assert groups(page) == {"Pinned": ["chat 2"], "Today": ["chat 4", "chat 3", "chat 1"]}
    before = site.service.get("chat-2")["updated_at"]
    listed.choose(page, "chat 2", "Unpin")
    expect(page.get_by_role("heading", name="Pinned")).to_have_count(0)
    assert listed.titles(page) == ["chat 4", "chat 3", "chat 2", "chat 1"]
    assert site.service.get("chat-2")["updated_at"] == before


@pytest.mark.parametrize(
    ("zone", "now"),
    [
        ("UTC", "2026-03-01T12:00:00+00:00"),
        ("Pacific/Kiritimati", "2026-03-01T00:30:00+14:00"),
        ("Pacific/Honolulu", "2026-02-28T23:30:00-10:00"),
        ("Europe/Berlin", "2026-03-30T00:30:00+02:00"),
        ("America/New_York", "2026-11-02T23:59:00-05:00"),
    ],
)
def test_groups_are_the_readers_own_calendar_days(site: Site, open_page: Open, zone: str, now: str) -> None:
    moment = datetime.fromisoformat(now)
    midnight = moment.replace(hour=0, minute=0)
    second = timedelta(seconds=1)
    site.chats(5)
    # a night in which the clock moves has another offset on its far side, so nights are given a margin of an hour
    for number, at in enumerate(
        (midnight + second, midnight - second, midnight - timedelta(days=1, hours=2), midnight - timedelta(days=8),
         datetime.fromisoformat("2020-05-05T12:00:00+00:00")),
        start=1,
    ):  # fmt: skip
        stamp(
            site,
            f"chat-{number}",
            at.astimezone(UTC).isoformat(),
        )
    page = open_page("about:blank", timezone_id=zone)
    page.clock.set_fixed_time(moment)
    page.goto("/chats")
    expect(listed.rows(page)).to_have_count(5)
    assert groups(page) == {
        "Today": ["chat 1"], "Yesterday": ["chat 2"], "Previous 7 days": ["chat 3"], "Previous 30 days": ["chat 4"],
        "May 2020": ["chat 5"],
    }  # fmt: skip


def test_a_time_is_relative_and_exact_when_pointed_at(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    stamp(site, "tea", "2026-03-01T09:00:00.000000+00:00")
    page = open_page("about:blank", timezone_id="Europe/Berlin")
    page.clock.set_fixed_time("2026-03-01T12:10:00Z")
    page.goto("/chats")
    moment = page.locator(".row time")
    expect(moment).to_have_text("3h ago")
    expect(moment).to_have_attribute("title", "Mar 1, 2026, 10:00 AM")
    expect(moment).to_have_attribute("datetime", "2026-03-01T09:00:00.000000+00:00")


def test_times_and_days_go_on_while_the_page_is_open(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    stamp(site, "tea", "2026-03-01T22:58:30.000000+00:00")
    page = open_page("about:blank", timezone_id="UTC")
    page.clock.install(time="2026-03-01T23:00:00Z")
    page.goto("/chats")
    expect(page.locator(".row time")).to_have_text("1m ago")
    page.clock.run_for("30:00")
    expect(page.locator(".row time")).to_have_text("31m ago")
    assert groups(page) == {"Today": ["Tea"]}
    page.clock.run_for("31:00")
    expect(page.get_by_role("heading", name="Yesterday")).to_be_visible()
    assert groups(page) == {"Yesterday": ["Tea"]}
