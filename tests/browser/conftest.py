"""The page in Debian's Chromium, over the real service; nothing of ours is replaced.

Every console message, page error, failed request and request to another host that a test did not expect fails it.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cheroot.wsgi import Server
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.site import Site
from tests.browser.watch import Watch
from tests.runs import gates

NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZES = {"desktop": (1280, 800), "phone": (360, 740)}
THREADS = 24
PATIENCE = 15_000


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path; without one the tests are skipped, or fail where BROWSER_TESTS is `required`."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None and os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail("no Chromium is installed")
    if found is None:
        pytest.skip(f"no Chromium is installed: none of {', '.join(NAMES)} is on the path")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser a module: while it lives, its event loop is this thread's, and nobody else's can be."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def settings() -> dict[str, Any]:
    """The settings of the site; a module that needs others has a fixture of this name."""
    return {}


@pytest.fixture
def site(serve: Callable[..., Any], settings: dict[str, Any]) -> Iterator[Site]:
    """A running service on a port of its own."""
    service = serve(**settings)
    server: Any = Server(("127.0.0.1", 0), service.app, numthreads=THREADS, shutdown_timeout=2)
    server.expiration_interval = 0.02  # what it waits before it looks whether it should stop
    server.prepare()
    serving = threading.Thread(target=server.serve, name="site")
    serving.start()
    yield Site(service, f"http://127.0.0.1:{server.bind_addr[1]}")
    gates.open_all()
    service.gateway.stop(0)
    server.stop()
    serving.join()
    service.gateway.close()


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Open a page of the site in a browser of its own; `watch` of the page says what a test expects to go wrong."""
    opened: list[tuple[BrowserContext, Watch]] = []

    def one(path: str = "/", *, size: str = "desktop", theme: str = "light", **more: Any) -> Page:
        width, height = SIZES[size]
        touch = {"has_touch": True} if size == "phone" else {}
        context = browser.new_context(
            base_url=site.url, viewport={"width": width, "height": height}, color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce", **touch, **more,
        )  # fmt: skip
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        watch = Watch(context, site.url)
        opened.append((context, watch))
        page = context.new_page()
        page.watch = watch  # type: ignore[attr-defined]
        page.goto(path)
        return page

    yield one
    for context, _ in opened:
        context.close()
    complaints = [complaint for _, watch in opened for complaint in watch.complaints()]
    assert complaints == []
