"""The list of chats as a reader uses it: marks, search, rename, pin, on a wide and on a narrow screen."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser import listed
from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.browser.watch import watch_of
from tests.runs.gates import Gate

Open = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202e & \u200fعربي"


def test_a_rename_is_saved_by_enter_and_by_leaving_and_dropped_by_escape(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    page = open_page("/chats/tea")
    for key, text, wanted in (
        ("Enter", "Green tea", "Green tea"),
        ("Escape", "Coffee", "Green tea"),
        ("Tab", "Mate", "Mate"),
    ):
        listed.choose(page, page.locator("h1").inner_text(), "Rename")
        box = page.get_by_label("Title", exact=True)
        expect(box).to_be_focused()
        box.fill(text)
        page.keyboard.press(key)
        expect(listed.row(page, wanted)).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text(wanted)
        assert site.service.get("tea")["title"] == wanted


def test_a_blank_title_is_refused_and_enter_of_an_input_method_saves_nothing(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    page = open_page("/chats")
    listed.choose(page, "Tea", "Rename")
    box = page.get_by_label("Title", exact=True)
    box.fill("   ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="A title cannot be blank.")).to_be_visible()
    expect(box).to_have_attribute("aria-invalid", "true")
    box.fill("お茶")
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    expect(box).to_be_visible()
    assert site.service.get("tea")["title"] == "Tea"
    page.keyboard.press("Enter")
    expect(listed.row(page, "お茶")).to_be_visible()


def test_a_title_that_the_service_refuses_stays_in_the_box_with_the_reason(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    page = open_page("/chats")
    watch_of(page).expect("status of 404")
    listed.choose(page, "Tea", "Rename")
    site.service.ask("DELETE", "/threads/tea", status=204)
    box = page.get_by_label("Title", exact=True)
    box.fill("Green tea")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("thread")
    expect(box).to_have_value("Green tea")


def test_search_finds_titles_beyond_the_loaded_pages_in_both_tabs(site: Site, open_page: Open) -> None:
    site.chat("needle", "A Needle_100%")
    site.chat("other", "another needle", deerflow_archived=True)
    site.chats(60)
    page = open_page("/chats")
    expect(listed.rows(page)).to_have_count(50)
    page.get_by_role("searchbox").fill("needle")
    expect(listed.rows(page)).to_have_count(1)
    assert listed.titles(page) == ["A Needle_100%"]
    expect(page.locator(".rows .end")).to_have_text("1 chat found")
    listed.counted(page, 1, 1)
    page.get_by_role("searchbox").fill("needle_100%")
    expect(listed.tab(page, "Archived")).to_have_text("Archived 0")
    assert listed.titles(page) == ["A Needle_100%"]
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_text("No title contains “nothing like it”.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(listed.rows(page)).to_have_count(50)
    listed.counted(page, 61, 1)


def test_hostile_titles_are_shown_as_text(site: Site, open_page: Open) -> None:
    site.chat("bad", HOSTILE)
    page = open_page("/chats/bad")
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    assert listed.titles(page) == [HOSTILE]
    listed.choose(page, HOSTILE, "Archive chat")
    listed.note(page, HOSTILE)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name=HOSTILE)).to_be_visible()
    assert page.locator("img, .row script").count() == 0


def test_a_chat_says_that_it_answers_waits_was_stopped_or_has_failed(site: Site, open_page: Open, gate: Gate) -> None:
    for thread_id in ("busy", "asks", "stopped", "broken", "quiet"):
        site.chat(thread_id, f"{thread_id} chat")
    site.service.start("busy", "held", gate.text)
    gate.await_reached()
    site.service.wait("asks", "ask", "shall I?")
    run_id = site.service.start("stopped", "slow", "for ever")["run_id"]
    site.service.reach("stopped", run_id, "running")
    site.service.cancel("stopped", run_id)
    site.service.wait("broken", "boom", "go")
    page = open_page("/chats")
    marks = (("busy", "Answering"), ("asks", "Needs your answer"), ("stopped", "Stopped"), ("broken", "Failed"))
    for thread_id, mark in marks:
        expect(listed.row(page, f"{thread_id} chat").get_by_text(mark, exact=True)).to_be_visible()
    expect(listed.row(page, "quiet chat").locator(".mark")).to_have_count(0)
    gate.open()
    expect(listed.row(page, "busy chat").locator(".mark")).to_have_text("New answer")


def test_the_open_chat_is_marked_and_back_and_forward_walk_the_chats(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats")
    listed.row(page, "chat 1").click()
    expect(page).to_have_url(f"{site.url}/chats/chat-1")
    expect(listed.rows(page).nth(2)).to_have_attribute("aria-current", "page")
    listed.row(page, "chat 3").click()
    expect(page).to_have_title("chat 3 · DeerFlow Lite")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 1")
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 3")
    expect(page.locator("[aria-current=page]")).to_have_count(1)


def test_on_a_phone_the_list_is_a_drawer_that_gives_way_to_what_was_chosen(site: Site, open_page: Open) -> None:
    site.chats(3)
    page = open_page("/chats/chat-1", size="phone")
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 1")
    expect(listed.rows(page).first).to_be_hidden()
    page.get_by_role("button", name="Show the list").click()
    expect(page.locator("#main")).to_have_attribute("inert", "")
    small = [box for link in listed.rows(page).all() if (box := link.bounding_box()) and box["height"] < 44]
    assert small == []
    listed.row(page, "chat 3").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("chat 3")
    expect(listed.rows(page).first).to_be_hidden()
    page.get_by_role("button", name="Show the list").click()
    expect(page.locator("#main")).to_have_attribute("inert", "")
    page.keyboard.press("Escape")
    expect(listed.rows(page).first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_on_a_phone_the_archive_opens_with_its_list(site: Site, open_page: Open) -> None:
    site.chat("kept", "kept aside", deerflow_archived=True)
    page = open_page("/chats/archived", size="phone")
    expect(listed.row(page, "kept aside")).to_be_visible()
    expect(page).to_have_title("Archived · DeerFlow Lite")


def test_the_open_chat_is_renamed_in_its_title_line_and_the_focus_stays_there(site: Site, open_page: Open) -> None:
    site.chat("tea", "Tea")
    page = open_page("/chats/tea")
    more = page.get_by_role("button", name="More for this chat")
    more.click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("Green tea")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Green tea")
    expect(more).to_be_focused()
    assert listed.titles(page) == ["Green tea"]


def test_a_new_chat_stands_on_top_at_once_and_says_that_it_is_being_answered(
    site: Site, open_page: Open, gate: Gate
) -> None:
    site.chats(2)
    page = open_page("/chats/chat-1")
    page.get_by_role("link", name="New chat").click()
    page.get_by_label("Agent").select_option("held")
    Reader(page).ask(gate.text)
    gate.await_reached()
    expect(listed.rows(page)).to_have_count(3)
    assert listed.titles(page)[1:] == ["chat 2", "chat 1"]
    expect(listed.rows(page).first).to_have_attribute("aria-current", "page")
    expect(listed.rows(page).first.get_by_text("Answering", exact=True)).to_be_visible()
    listed.counted(page, 3, 0)
    gate.open()
    expect(listed.rows(page).first.locator(".mark")).to_have_count(0)
    assert listed.titles(page) == [gate.text, "chat 2", "chat 1"]


def test_a_chat_that_was_answered_while_another_was_open_is_marked_until_it_is_opened(
    site: Site, open_page: Open, gate: Gate
) -> None:
    site.chats(2)
    run = site.service.start("chat-1", "held", gate.text)["run_id"]
    page = open_page("/chats/chat-2")
    row = listed.rows(page).filter(has_text="chat 1")
    expect(row.locator(".mark")).to_have_text("Answering")
    gate.open()
    site.service.join("chat-1", run)
    expect(row.locator(".mark")).to_have_text("New answer")
    page.reload()
    expect(row.locator(".mark")).to_have_text("New answer")
    row.click()
    expect(row.locator(".mark")).to_have_count(0)
    page.reload()
    expect(row).to_have_attribute("aria-current", "page")
    expect(row.locator(".mark")).to_have_count(0)


def test_a_long_list_stays_quick_to_change(site: Site, open_page: Open) -> None:
    """Of a thousand rows one is drawn anew, so that the others are the very elements that they were."""
    site.chats(120)
    page = open_page("/chats")
    listed.to_the_end(page, "That is all")
    page.evaluate("for (const row of document.querySelectorAll('.row-link')) row.dataset.seen = 'yes'")
    page.evaluate("window.drawn = 0")
    page.evaluate(
        """new MutationObserver((all) => { window.drawn += all.length; }).observe(
          document.querySelector('.rows'), { subtree: true, childList: true, attributes: true, characterData: true })"""
    )
    listed.choose(page, "chat 60", "Pin")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    assert page.locator(".row-link[data-seen=yes]").count() == 119
    assert page.evaluate("window.drawn") < 40
