"""Asking and being answered: what is streamed, folded, stopped, retried, and what a reader typed and did not send."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chatting import HIDE, Reader
from tests.browser.site import Site
from tests.runs.gates import Gate
from tests.service import until

Open = Callable[..., Page]


def test_a_new_chat_is_answered_gets_an_address_and_is_there_after_a_reload(site: Site, open_page: Open) -> None:
    page = open_page("/")
    reader = Reader(page)
    page.get_by_role("combobox", name="Agent").select_option("agent")
    reader.ask("Good morning")
    reader.answered("You wrote: “Good morning”")
    expect(page).to_have_url(re.compile(r"/chats/[0-9a-f-]{36}$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Good morning")
    page.reload()
    reader.answered("You wrote: “Good morning”")
    assert reader.questions() == ["Good morning"]
    thread_id = page.url.rpartition("/")[2]
    assert len(site.service.get(thread_id, "/runs")) == 1


def test_a_chat_goes_on_where_it_stands(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", assistant="chat")
    reader = Reader(open_page("/chats/tea"))
    reader.answered("echo: one")
    reader.ask("two")
    reader.answered("echo: one", "echo: two")
    assert [body["assistant_id"] for body in reader.posted("/runs/stream")] == ["chat"]


def test_an_answer_is_read_while_it_comes_and_a_reload_in_its_midst_shows_it_from_the_first_word(
    site: Site, open_page: Open, gate: Gate
) -> None:
    site.chat("tea", "Tea", graph_id="telling")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask(gate.text)
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    expect(page.get_by_role("log")).to_have_attribute("aria-busy", "true")
    gate.await_reached()
    page.reload()
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    assert reader.questions() == [gate.text]
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_enabled()
    gate.open()
    reader.answered(f"telling {gate.text}")
    expect(page.get_by_role("log")).to_have_attribute("aria-busy", "false")
    assert page.locator(".turn").inner_text().count("telling") == 1


def test_another_tab_follows(site: Site, open_page: Open, gate: Gate) -> None:
    site.chat("tea", "Tea", graph_id="telling")
    one, other = Reader(open_page("/chats/tea")), Reader(open_page("/chats/tea"))
    expect(other.page.get_by_text("Nothing was said here yet")).to_be_visible()
    one.ask(gate.text)
    expect(other.turn(0)).to_contain_text(f"telling {gate.text}")
    gate.open()
    other.answered(f"telling {gate.text}")


def test_a_hidden_tab_holds_no_stream_and_takes_it_up_after_the_last_event(
    site: Site, open_page: Open, gate: Gate
) -> None:
    site.chat("tea", "Tea", graph_id="telling")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask(gate.text)
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    gate.await_reached()
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/runs/stream")):
        page.evaluate(HIDE, True)
    with page.expect_request(re.compile(r"/runs/[0-9a-f-]+/stream")) as again:
        page.evaluate(HIDE, False)
    assert int(again.value.headers["last-event-id"]) > 2
    gate.open()
    reader.answered(f"telling {gate.text}")
    assert page.locator(".turn").inner_text().count("telling") == 1


def test_a_stopped_run_keeps_what_came_and_the_chat_goes_on(site: Site, open_page: Open, gate: Gate) -> None:
    site.chat("tea", "Tea", graph_id="telling")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask(gate.text)
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(reader.turn(0)).to_have_attribute("data-status", "interrupted")
    expect(reader.turn(0)).to_contain_text("Stopped")
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    page.reload()
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    expect(reader.turn(0)).to_contain_text("It was cut off here.")
    reader.ask("go on")
    reader.answered(gate.text, "telling go on")


def test_a_stopped_run_goes_on_in_its_own_turn(site: Site, open_page: Open, gate: Gate) -> None:
    site.chat("tea", "Tea", graph_id="telling")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask(gate.text)
    expect(reader.turn(0)).to_contain_text(f"telling {gate.text}")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(reader.turn(0)).to_have_attribute("data-status", "interrupted")
    gate.open()
    reader.button(0, "Continue").click()
    expect(reader.turn(0)).to_have_attribute("data-status", "done")
    reader.answered(f"telling {gate.text}")
    expect(reader.turn(0)).not_to_contain_text("Stopped")


def test_what_a_run_said_before_it_failed_stays(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea", graph_id="halfway")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask("please")
    expect(reader.turn(0)).to_contain_text("This run failed: RuntimeError: half way")
    expect(reader.turn(0).locator(".prose")).to_have_text("one two three")
    page.reload()
    expect(reader.turn(0).locator(".prose")).to_have_text("one two three")


def test_a_run_that_fails_says_why_and_is_tried_again_from_where_it_stands(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea", graph_id="boom")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.ask("please")
    expect(reader.turn(0)).to_contain_text("This run failed: ValueError: boom")
    with page.expect_request("**/runs/stream"):
        reader.button(0, "Try again").click()
    expect(reader.turn(0)).to_have_attribute("data-status", "failed")
    expect(page.locator(".turn")).to_have_count(1)
    assert [body["input"] for body in reader.posted("/runs/stream")] == [
        {"messages": [{"type": "human", "content": "please"}]}, None,
    ]  # fmt: skip
    until(lambda: [run["status"] for run in site.service.get("tea", "/runs")] == ["error", "error"])


def test_an_earlier_turn_that_failed_says_why(site: Site, open_page: Open) -> None:
    site.talk("tea", "!boom", "and now", assistant="chat")
    reader = Reader(open_page("/chats/tea"))
    expect(reader.turn(0)).to_contain_text("This run failed: ValueError: boom")
    reader.answered("!boom", "echo: and now")


def test_tool_calls_and_their_results_are_folded(site: Site, open_page: Open) -> None:
    site.talk("tea", "What is 2*(3+4)?")
    page = open_page("/chats/tea")
    fold = page.locator("details.fold")
    expect(fold).to_have_count(1)
    expect(fold.get_by_text("2*(3+4) = 14")).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.get_by_text("2*(3+4) = 14")).to_be_visible()
    assert fold.locator("pre").all_inner_texts() == ['{\n  "expression": "2*(3+4)"\n}', "2*(3+4) = 14"]
    expect(page.locator(".prose")).to_have_text("This is what I found. 2*(3+4) = 14")


def test_a_question_of_the_graph_is_answered_by_an_option(site: Site, open_page: Open) -> None:
    site.talk("tea", "please", assistant="ask")
    page = open_page("/chats/tea")
    asking = page.get_by_role("form", name="The agent asks")
    expect(asking.get_by_role("heading")).to_have_text("approve?")
    asking.get_by_role("button", name="yes").click()
    Reader(page).answered("approved=True")
    expect(asking).to_have_count(0)


@pytest.mark.parametrize(("typed", "json", "resumed"), [("no", False, "no"), ('{"yes": [1]}', True, {"yes": [1]})])
def test_a_question_of_the_graph_is_answered_by_any_text_or_json(
    site: Site, open_page: Open, typed: str, json: bool, resumed: object
) -> None:
    site.talk("tea", "please", assistant="ask")
    page = open_page("/chats/tea")
    asking = page.get_by_role("form", name="The agent asks")
    asking.get_by_label("Send as JSON").set_checked(json)
    asking.get_by_role("textbox").fill(typed)
    asking.get_by_role("textbox").press("Enter")
    Reader(page).answered("approved=False")
    assert [body["command"] for body in Reader(page).posted("/runs/stream")] == [{"resume": resumed}]


def test_several_questions_are_answered_one_by_one(site: Site, open_page: Open) -> None:
    site.talk("tea", "please", assistant="parallel")
    page = open_page("/chats/tea")
    asking = page.get_by_role("form", name="The agent asks")
    expect(asking).to_have_count(2)
    asking.filter(has_text='"left"').get_by_role("textbox").fill("L")
    asking.filter(has_text='"left"').get_by_role("button", name="Answer").click()
    expect(asking).to_have_count(1)
    asking.get_by_role("textbox").fill("R")
    asking.get_by_role("button", name="Answer").click()
    expect(asking).to_have_count(0)
    until(lambda: len(site.service.state("tea")["values"].get("answers", [])) == 2)
    assert sorted(site.service.state("tea")["values"]["answers"]) == ["left=L", "right=R"]


def test_a_message_whose_run_never_began_is_shown_and_can_be_sent_again(
    site: Site, open_page: Open, gate: Gate
) -> None:
    service = site.service
    thread = site.chat("tea", "Tea", graph_id="held")
    first = service.start(thread, "held", gate.text)
    second = service.start(thread, "held", "and this?")
    service.cancel(thread, second["run_id"])
    gate.open()
    service.join(thread, first["run_id"])
    page = open_page("/chats/tea")
    reader = Reader(page)
    lost = page.locator(".turn[data-status=lost]")
    expect(lost).to_contain_text("Stopped before anything was answered.")
    assert reader.questions() == [gate.text, "and this?"]
    lost.get_by_role("button", name="Send again").click()
    reader.answered(f"echo: {gate.text}", "echo: and this?")
    expect(lost).to_have_count(0)
