"""What is read: Markdown, code, hostile text, and where the reader is while it grows."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chatting import Reader
from tests.browser.site import Site
from tests.runs.gates import Gate

Open = Callable[..., Page]
HOSTILE = '<img src=x onerror="window.owned=true"><script>window.owned=true</script>'
CODE = "```python\ndef add(a):\n    return a + 1  # one\n```"


def test_markdown_is_shown_as_it_is_meant(site: Site, open_page: Open) -> None:
    site.talk("tea", f"# Head\n\n- one\n- two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n{CODE}", assistant="chat")
    prose = open_page("/chats/tea").locator(".prose")
    expect(prose.get_by_role("listitem")).to_have_text(["one", "two"])
    expect(prose.get_by_role("region", name="Table").get_by_role("row")).to_have_count(2)
    expect(prose.locator(".hljs-keyword")).to_have_text(["def", "return"])
    expect(prose.locator(".code-head span")).to_have_text("python")


def test_code_is_copied_as_it_was_written_and_an_answer_as_markdown(site: Site, open_page: Open) -> None:
    site.talk("tea", f"see\n\n{CODE}", assistant="chat")
    page = open_page("/chats/tea")
    page.get_by_role("button", name="Copy python code").click()
    expect(page.get_by_role("button", name="Copy python code")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "def add(a):\n    return a + 1  # one"
    page.get_by_role("button", name="Copy the answer").click()
    expect(page.locator(".answer").get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"echo: see\n\n{CODE}"


def test_copying_works_where_the_browser_keeps_its_clipboard_closed(site: Site, open_page: Open) -> None:
    site.talk("tea", "one", assistant="chat")
    page = open_page("/chats/tea")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    page.get_by_role("button", name="Copy the answer").click()
    expect(page.locator(".answer").get_by_role("status")).to_have_text("Copied")
    Reader(page).box.press("Control+v")
    expect(Reader(page).box).to_have_value("echo: one")


def test_hostile_text_is_text_in_the_question_the_answer_the_title_and_a_tool_result(
    site: Site, open_page: Open
) -> None:
    site.talk("tea", HOSTILE, f"find {HOSTILE}")
    page = open_page("/chats/tea")
    reader = Reader(page)
    reader.answered(HOSTILE, "what I found")
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x")
    page.locator("details.fold summary").click()
    expect(page.locator("details.fold pre").first).to_contain_text("<img src=x")
    reader.tree()
    expect(page.get_by_role("treeitem").first).to_contain_text("<img src=x")
    page.get_by_role("button", name="State of this chat").click()
    expect(page.locator(".values")).to_contain_text("values")
    assert page.locator(".turns img, .turns script, .panel img, h1 img").count() == 0
    assert page.evaluate("window.owned") is None


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[x](javascript:alert(1))", "x"),
        ("[x](data:text/html,<b>1</b>)", "x"),
        ("![picture](http://elsewhere.invalid/a.png)", "picture"),
        ("<a href='//elsewhere.invalid' style='position:fixed'>x</a>", "<a href='//elsewhere.invalid'"),
        ("<form action=/api><button>x</button></form>", "<form action=/api>"),
        ("<iframe src=/></iframe>", "<iframe src=/>"),
    ],
)
def test_markup_that_would_act_or_ask_elsewhere_does_nothing(
    site: Site, open_page: Open, written: str, shown: str
) -> None:
    site.talk("tea", f"see {written}", assistant="chat")
    prose = open_page("/chats/tea").locator(".prose")
    expect(prose).to_contain_text(shown)
    assert prose.locator("img, form, iframe, [style], [onerror], a[href^=javascript], a[href^=data]").count() == 0
    assert prose.locator("a:not([rel~=noopener])").count() == 0


def test_nesting_without_end_is_shown_as_it_was_written(site: Site, open_page: Open) -> None:
    site.talk("tea", "\n\n" + ">" * 20_000 + " deep", assistant="chat")
    expect(open_page("/chats/tea").locator(".prose")).to_contain_text("deep")


def test_a_reader_at_the_end_follows_and_one_who_scrolled_up_stays(site: Site, open_page: Open, gate: Gate) -> None:
    long = "\n\n".join(f"line {number}" for number in range(80))
    site.talk("tea", long, assistant="telling")
    page = open_page("/chats/tea")
    reader, log = Reader(page), page.get_by_role("log")
    distance = "box => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight)"
    expect(page.get_by_text("line 79").last).to_be_in_viewport()
    reader.ask(gate.text)
    expect(reader.turn(1)).to_contain_text(f"telling {gate.text}")
    expect(reader.turn(1).locator(".working")).to_be_in_viewport()
    assert log.evaluate(distance) < 60
    log.hover()
    page.mouse.wheel(0, -1500)
    pill = page.get_by_role("button", name="Jump to latest")
    expect(pill).to_be_visible()
    before = log.evaluate("box => box.scrollTop")
    gate.open()
    reader.answered("line 79", f"telling {gate.text}")
    assert log.evaluate("box => box.scrollTop") == before
    pill.click()
    expect(pill).to_have_count(0)
    assert log.evaluate(distance) < 60


def test_older_turns_come_as_the_reader_goes_up_and_what_is_read_stays_in_place(site: Site, open_page: Open) -> None:
    site.talk("tea", *(f"number {number}" for number in range(40)), assistant="chat")
    page = open_page("/chats/tea")
    expect(page.locator(".turn")).to_have_count(25)
    expect(page.get_by_text("echo: number 39")).to_be_in_viewport()
    log = page.get_by_role("log")
    log.hover()
    page.mouse.wheel(0, -100_000)
    expect(page.locator(".turn")).to_have_count(40)
    assert [text.removeprefix("number ") for text in Reader(page).questions()] == [str(number) for number in range(40)]
    expect(page.get_by_text("echo: number 0", exact=True)).not_to_be_in_viewport()


def test_a_chat_is_printed_dark_on_light_with_its_title_and_without_what_is_pressed(
    site: Site, open_page: Open
) -> None:
    site.chat("tea", "Tea for two")
    site.talk("tea", "green", assistant="chat")
    page = open_page("/chats/tea", theme="dark")
    Reader(page).answered("echo: green")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 252, 250)"
    expect(page.get_by_role("heading", name="Tea for two")).to_be_visible()
    expect(page.get_by_text("echo: green", exact=True)).to_be_visible()
    assert [one for one in page.get_by_role("button").all() if one.is_visible()] == []
    expect(Reader(page).box).to_be_hidden()
