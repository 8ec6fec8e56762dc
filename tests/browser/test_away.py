"""What stays in a conversation while the service cannot be reached, and how it goes on when it can."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.chatting import HIDE, Reader
from tests.browser.site import Site
from tests.browser.watch import watch_of
from tests.runs.gates import Gate

Open = Callable[..., Page]


def begun(site: Site, page: Page, gate: Gate) -> Reader:
    """Ask, and wait until a part of the answer is shown and the rest waits at the gate."""
    site.chat("tea", "Tea", graph_id="telling")
    page.goto("/chats/tea")
    reader = Reader(page)
    reader.ask(gate.text)
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    gate.await_reached()
    return reader


def test_a_turn_says_that_the_service_cannot_be_reached_and_goes_on_once_it_can(
    site: Site, open_page: Open, gate: Gate
) -> None:
    page = open_page("/")
    watch_of(page).expect("ERR_INTERNET_DISCONNECTED")
    reader = begun(site, page, gate)
    page.context.set_offline(True)  # what is open stays so: the stream ends with the tab hidden
    page.evaluate(HIDE, True)
    page.evaluate(HIDE, False)
    expect(reader.turn(0).get_by_role("status")).to_contain_text("The service cannot be reached.")
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    page.context.set_offline(False)
    expect(reader.turn(0).get_by_role("status")).to_have_count(0)
    gate.open()
    reader.answered(f"telling {gate.text}")
    assert page.locator(".turn").inner_text().count("telling") == 1


def test_an_answer_that_cannot_be_read_again_stays_and_is_read_once_it_can(
    site: Site, open_page: Open, gate: Gate
) -> None:
    page = open_page("/")
    watch_of(page).expect("ERR_FAILED")
    reader = begun(site, page, gate)
    page.route("**/turns?*", lambda route: route.abort())
    gate.open()
    expect(page.get_by_text("The conversation could not be loaded")).to_be_visible()
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    page.unroute_all()
    page.evaluate(HIDE, False)
    reader.answered(f"telling {gate.text}")
    expect(page.get_by_text("The conversation could not be loaded")).to_have_count(0)
