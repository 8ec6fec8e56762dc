"""python -m tests.browser.screens: takes the pictures of README, of the real page over the real service.

What is shown is said by the embedded agent, but for one answer with code, which is written into the state by hand.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.client import Client
from tests.processes import Served

FOLDER = Path(__file__).with_name("screens")
DESKTOP, PHONE = (1120, 700), (390, 700)
TITLES = ("Seeds for a north-facing garden", "Rounding of money", "A name for the boat", "Notes on the tides")
ANSWER = """Walk the parents, and stop where one is missing:

```python
def lineage(head, parents):
    \"\"\"Give a checkpoint and its ancestors, the newest first.\"\"\"
    while head is not None:
        yield head
        head = parents.get(head)
```

| steps | read in |
|---|--:|
| 10 | 0.03 ms |
| 1,000 | 3 ms |

A *cycle* would never end, so the service counts its steps."""


def main() -> None:
    """Take every picture anew."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        served = Served(Path(home) / "instance")
        with Client(served.url) as client:
            _fill(client)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (size, theme, path, act) in SCREENS.items():
            _taken(browser, served.url + path, name, size, theme, act)
        browser.close()
        served.end()


def _taken(
    browser: Browser, url: str, name: str, size: tuple[int, int], theme: Any, act: Callable[[Page], None]
) -> None:
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce")
    page.goto(url)
    page.wait_for_load_state("networkidle")
    act(page)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


def _fill(client: Client) -> None:
    for title in TITLES:
        _talk(client, title.lower().replace(" ", "-"), title)
    for title in ("An old plan", "Letters to the editor", "Winter tyres"):
        path = _talk(client, title.lower().replace(" ", "-"), title)
        client.ask("PATCH", path, {"metadata": {"deerflow_archived": True}})
    path = _talk(client, "sums", "What is 2*(3+4)?", "Say hello to the garden", "Find garden")
    turns = client.ask("GET", path + "/turns")["turns"]
    for text in ("Say hello to the sea", "What time is it in Asia/Tokyo?"):
        edit = {"human_message_id": turns[1]["human_message_id"], "replacement_text": text}
        run = client.ask("POST", path + "/runs/edit", edit)
        client.ask("GET", f"{path}/runs/{run['run_id']}/join")
        turns = client.ask("GET", path + "/turns")["turns"]
    _talk(client, "sums", "Thank you")
    path = _talk(client, "lineage", "What is lineage?")
    said = [{"type": "human", "content": "How is it read in Python?"}, {"type": "ai", "content": ANSWER}]
    client.ask("POST", path + "/state", {"values": {"messages": said}, "as_node": "model"})
    client.ask("PATCH", path, {"title": "How a lineage is walked", "metadata": {"deerflow_pinned": True}})
    client.ask("PATCH", path, {"metadata": {"deerflow_pinned": True}})


def _talk(client: Client, thread_id: str, *texts: str) -> str:
    path = f"/api/threads/{thread_id}"
    client.ask("POST", "/api/threads", {"thread_id": thread_id})
    for text in texts:
        message = {"role": "user", "content": text}
        client.ask("POST", path + "/runs/wait", {"assistant_id": "agent", "input": {"messages": [message]}})
    return path


def _press(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("button", name=name).click()


def _wait(page: Page) -> None:
    page.get_by_role("button", name="Regenerate").last.wait_for()


SCREENS: dict[str, tuple[tuple[int, int], str, str, Callable[[Page], None]]] = {
    "chat": (DESKTOP, "light", "/chats/lineage", _wait),
    "tree": (DESKTOP, "light", "/chats/sums", _press("Tree of this chat")),
    "state": (DESKTOP, "dark", "/chats/sums", _press("State of this chat")),
    "archived": (DESKTOP, "dark", "/chats/winter-tyres", _wait),
    "phone": (PHONE, "light", "/chats/sums", _wait),
    "phone-list": (PHONE, "dark", "/chats/lineage", _press("Show the list")),
}

if __name__ == "__main__":
    main()
