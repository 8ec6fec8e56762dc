"""The box to write in: drafts, keys, input methods, and messages that cannot be sent now."""

import re
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.browser.watch import watch_of
from tests.runs.gates import Gate

Open = Callable[..., Page]
COMPOSING = """(box, event) =>
  box.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...event }))"""


@pytest.mark.parametrize("event", [{"key": "Enter", "isComposing": True}, {"key": "Enter", "keyCode": 229}])
def test_the_enter_of_an_input_method_sends_nothing(site: Site, open_page: Open, event: dict[str, object]) -> None:
    site.talk("tea", "one", assistant="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered("echo: one")
    reader.box.fill("にほん")
    reader.box.evaluate(COMPOSING, event)
    reader.button(0, "Edit").click(force=True)
    box = page.get_by_role("textbox", name="Edit the question")
    box.fill("にほん")
    box.evaluate(COMPOSING, event | {"ctrlKey": True})
    expect(reader.box).to_have_value("にほん")
    assert reader.posted("/runs/stream") + reader.posted("/runs/edit") == []


def test_shift_and_enter_make_a_line_and_blanks_are_not_sent(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea", graph_id="chat")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask("   ")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    reader.box.fill("one")
    reader.box.press("Shift+Enter")
    reader.box.press_sequentially("two")
    reader.box.press("Enter")
    reader.answered("echo: one")
    assert reader.questions() == ["one\ntwo"]
    assert [body["input"]["messages"][0]["content"] for body in reader.posted("/runs/stream")] == ["one\ntwo"]


def test_a_draft_belongs_to_its_chat_and_outlives_a_reload(site: Site, open_page: Open) -> None:
    site.chats(2)
    page = open_page("/chats/chat-1")
    reader = Reader(page)
    reader.box.fill("for the first")
    page.goto("/chats/chat-2")
    expect(reader.box).to_have_value("")
    reader.box.fill("for the second")
    page.go_back()
    expect(reader.box).to_have_value("for the first")
    page.reload()
    expect(reader.box).to_have_value("for the first")


def test_the_arrow_up_in_an_empty_box_brings_back_the_last_question(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", "two", assistant="chat")
    reader = Reader(open_page("/chats/tea"))
    reader.answered("echo: one", "echo: two")
    reader.box.press("ArrowUp")
    expect(reader.box).to_have_value("two")


def test_what_is_sent_while_an_answer_comes_is_refused_and_stays_in_the_box(
    site: Site, open_page: Open, gate: Gate
) -> None:
    site.chat("tea", "Tea", graph_id="held")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask(gate.text)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()
    reader.ask("next")
    expect(page.get_by_role("alert")).to_have_text("Wait for the answer, or stop it: your message stays here.")
    gate.open()
    reader.answered(f"echo: {gate.text}")
    expect(reader.box).to_have_value("next")
    expect(page.get_by_role("alert")).to_have_count(0)
    reader.box.press("Enter")
    reader.answered(f"echo: {gate.text}", "echo: next")


def test_a_message_that_the_service_refuses_comes_back_into_the_box(site: Site, open_page: Open, gate: Gate) -> None:
    site.chat("tea", "Tea", graph_id="held")
    page = open_page("/chats/tea")
    watch_of(page).expect("status of 409")
    reader = Reader(page)
    expect(page.get_by_text("Nothing was said here yet")).to_be_visible()
    site.service.start("tea", "held", gate.text)
    reader.ask("at the same time")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("run|Wait"))
    expect(reader.box).to_have_value("at the same time")
    gate.open()
    reader.answered(f"echo: {gate.text}")


def test_a_message_that_cannot_reach_the_service_comes_back_into_the_box(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", assistant="chat")
    page = open_page("/chats/tea")
    watch_of(page).expect("ERR_INTERNET_DISCONNECTED")
    reader = Reader(page)
    reader.answered("echo: one")
    page.context.set_offline(True)
    reader.ask("two")
    expect(page.get_by_role("alert")).to_have_text("The service cannot be reached.")
    expect(reader.box).to_have_value("two")
    page.context.set_offline(False)
    reader.box.press("Enter")
    reader.answered("echo: one", "echo: two")


def test_an_impatient_reader_makes_one_chat_and_one_run(site: Site, open_page: Open) -> None:
    page = open_page("/")
    reader = Reader(page)
    page.get_by_role("combobox", name="Agent").select_option("chat")
    reader.box.fill("one")
    reader.box.evaluate("""box => { for (let time = 0; time < 3; time += 1) box.form.requestSubmit(); }""")
    reader.answered("echo: one")
    assert len(reader.posted("/runs/stream")) == 1
    assert site.service.ask("POST", "/threads/count", {}) == 1


def test_a_message_sent_before_the_chat_is_read_goes_on_from_its_end_with_its_own_agent(
    site: Site, open_page: Open
) -> None:
    site.talk("tea", "one", assistant="chat")
    page = open_page("/")
    reading, held = threading.Event(), []
    page.route("**/turns?*", lambda route: route.continue_() if reading.is_set() else held.append(route))
    with page.expect_request("**/turns?*"):
        page.goto("/chats/tea")
    reader = Reader(page)
    reader.ask("two")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    reading.set()
    for route in held:
        route.continue_()
    reader.answered("echo: one", "echo: two")
    assert [body["assistant_id"] for body in reader.posted("/runs/stream")] == ["chat"]
