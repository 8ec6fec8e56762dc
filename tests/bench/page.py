"""The chat page in Chromium: a long chat opens, its reader types, an answer of many tokens is streamed.

Nothing is measured where no Chromium is installed. Frames are those that the page was given to draw in.
"""

import shutil
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from tests.bench.client import Client
from tests.bench.rounds import Effort
from tests.bench.service import folder, served
from tests.bench.table import Goal, Line
from tests.processes import Served

TURNS = 1500
TYPED = "fifty characters that are typed one after the other"
PASSAGE = "Some words of a long text with `code` and **bold** in it. " * 8
MARKDOWN = (PASSAGE + "\n\n- one\n- two\n\n```python\ndef add(a):\n    return a + 1\n```\n\n") * 14
TOKENS = 2 * len(MARKDOWN.split())
FRAMES = """() => {
  window.frames_seen = []; let last = performance.now();
  const next = (now) => { frames_seen.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
KEYS = """() => new PerformanceObserver((list) => { for (const { duration } of list.getEntries())
  (window.keys_seen ??= []).push(duration); }).observe({ type: 'event', durationThreshold: 16 })"""


def lines(effort: Effort) -> Iterator[Line]:
    """Measure with the service in a process of its own."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return
    from playwright.sync_api import sync_playwright

    graphs = "chat=tests.sample_graphs:chat"
    with folder() as instance, served(instance, graphs=graphs) as service, sync_playwright() as playwright:
        with Client(service.url) as client:
            _long_chat(client)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield from _read(browser, service, effort.starts)
        yield from _streamed(browser, service)
        browser.close()


def _long_chat(client: Client) -> None:
    """Make a chat of many messages in one update of its state, and one turn behind them."""
    client.ask("POST", "/api/threads", {"thread_id": "long", "metadata": {"graph_id": "chat"}})
    said = [
        {"type": kind, "id": f"{kind}{number}", "content": f"{kind} {number}. {PASSAGE[:400]}"}
        for number in range(TURNS) for kind in ("human", "ai")
    ]  # fmt: skip
    client.ask("POST", "/api/threads/long/state", {"values": {"messages": said}, "as_node": "reply"})
    asked = {"assistant_id": "chat", "input": {"messages": [{"type": "human", "content": "the end", "id": "h"}]}}
    client.ask("POST", "/api/threads/long/runs/wait", asked)


def _read(browser: Any, service: Served, times: int) -> Iterator[Line]:
    first, again = [], []
    for _ in range(times):
        context = browser.new_context()
        first.append(_opened(context.new_page(), service))
        page = context.new_page()
        again.append(_opened(page, service))
        shown = page.locator(".turn").count()
        if len(first) < times:
            context.close()
    what = f"a chat of {2 * TURNS + 2:,} messages, last {2 * shown} shown"
    yield Line(what, median(first), None, Goal(1000))
    yield Line("the same where the page was seen before", median(again), None, Goal(1000))
    page.evaluate(FRAMES)
    page.evaluate(KEYS)
    page.locator("#ask").press_sequentially(TYPED)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    longest = max(page.evaluate("window.keys_seen ?? [16]"))
    yield Line("a key typed in it, longest until drawn", longest, None, Goal(100))
    page.close()


def _opened(page: Any, service: Served) -> float:
    """Open the long chat and give the milliseconds until its end is shown."""
    began = time.perf_counter()
    page.goto(f"{service.url}/chats/long", wait_until="commit")
    page.get_by_text("echo: the end").wait_for()
    return (time.perf_counter() - began) * 1000


def _streamed(browser: Any, service: Served) -> Iterator[Line]:
    page = browser.new_page()
    page.goto(f"{service.url}/chats")
    page.get_by_role("combobox", name="Agent").select_option("chat")
    page.locator("#ask").fill(MARKDOWN)
    page.evaluate(FRAMES)
    began = time.perf_counter()
    page.locator("#ask").press("Enter")
    page.get_by_role("button", name="Regenerate").wait_for()
    seconds = time.perf_counter() - began
    gaps = sorted(page.evaluate("frames_seen"))
    yield Line(f"{TOKENS:,} tokens of Markdown, until all is drawn", seconds * 1000)
    yield Line("frames a second meanwhile", len(gaps) / seconds, None, Goal(30, "", at_least=True))
    yield Line("time between two frames, p95", gaps[int(len(gaps) * 0.95)])
    page.close()
