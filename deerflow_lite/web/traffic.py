"""Gives each request an id, counts it and logs what was refused; it looks into no body, no query and no path.

Invariant: what it counts by comes from small sets (methods, names of views, statuses), whatever a client sends.
"""

import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import Flask, Response, g, request

from deerflow_lite import clock

HEADER: Final = "X-Request-Id"
_GIVEN: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_LEVELS: Final = {2: logging.DEBUG, 3: logging.DEBUG, 4: logging.INFO, 5: logging.WARNING}
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Passed:
    """How many requests of one kind were answered, and the seconds until their answers began."""

    number: int = 0
    seconds: float = 0.0


class Traffic:
    """The requests of one application since it started, by method, view and status."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passed: dict[tuple[str, str, int], Passed] = {}

    def note(self, method: str, view: str, status: int, seconds: float) -> None:
        """Count one answer."""
        with self._lock:
            passed = self._passed.setdefault((method, view, status), Passed())
            passed.number += 1
            passed.seconds += seconds

    def counted(self) -> list[tuple[tuple[str, str, int], Passed]]:
        """Give the counts of every kind."""
        with self._lock:
            return [(kind, Passed(one.number, one.seconds)) for kind, one in sorted(self._passed.items())]


def request_id() -> str:
    """Give the id of the request that is answered: the client's own, where it sent one that can be printed."""
    given: str = g.setdefault("request_id", request.headers.get(HEADER, ""))
    if not _GIVEN.fullmatch(given):
        given = g.request_id = clock.new_id()
    return given


def install(app: Flask) -> Traffic:
    """Stand before every other hook, so that refused requests are counted too."""
    traffic = Traffic()
    app.before_request(_begin)
    app.after_request(_noting(traffic))
    return traffic


def _begin() -> None:
    g.began = time.perf_counter()


def _noting(traffic: Traffic) -> Callable[[Response], Response]:
    def note(response: Response) -> Response:
        method = request.method if request.method in _METHODS else "other"
        view = (request.endpoint or "none").rpartition(".")[2]
        seconds = time.perf_counter() - g.began
        traffic.note(method, view, response.status_code, seconds)
        response.headers[HEADER] = request_id()
        level = _LEVELS.get(response.status_code // 100, logging.WARNING)
        if _log.isEnabledFor(level):
            told = {"method": method, "view": view, "milliseconds": round(seconds * 1000, 3)}
            told |= {"status": response.status_code, "request_id": request_id()}
            _log.log(level, "answered", extra={"fields": told})
        return response

    return note
