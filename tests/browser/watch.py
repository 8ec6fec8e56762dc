"""What goes wrong in a browser while a test runs, apart from what the test said would."""

import re
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError


class Watch:
    """Collects the console, page errors, failed requests and requests to other hosts of one context."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self._url = url
        self._seen: list[str] = []
        self._expected: list[str] = []
        self.requests: list[tuple[str, str, Any]] = []
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("requestfailed", self._failed)
        context.on("request", self._asked)

    def expect(self, *patterns: str) -> None:
        """Say that messages with these patterns may come."""
        self._expected += patterns

    def complaints(self) -> list[str]:
        """Give what came and was not expected."""
        return [one for one in self._seen if not any(re.search(pattern, one) for pattern in self._expected)]

    def asked(self, method: str, path: str) -> list[Any]:
        """Give the bodies of the requests with this method and this path, in order."""
        return [body for verb, where, body in self.requests if (verb, where) == (method, path)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type != "verbose":  # the browser's own advice
            self._seen.append(f"console {message.type}: {message.text} {message.location.get('url', '')}")

    def _error(self, error: WebError) -> None:
        self._seen.append(f"page error: {error.error}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":
            self._seen.append(f"request failed: {request.method} {request.url} {request.failure}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._url, "data:", "blob:")):
            self._seen.append(f"request to another host: {request.url}")
        body = request.post_data_json if request.post_data else None
        self.requests.append((request.method, request.url.removeprefix(self._url), body))


def watch_of(page: Page) -> Watch:
    """Give the watch over a page that `open_page` has opened."""
    watch: Watch = page.watch  # type: ignore[attr-defined]
    return watch
