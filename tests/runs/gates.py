"""Gates that nodes wait at until a test opens them, so that no test has to guess how long something takes."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

SECONDS = 20.0
_numbers = itertools.count(1)
_gates: dict[str, "Gate"] = {}


class Gate:
    """One gate: `reached` when a node stands before it, `ignored` when a node was told to leave and stayed."""

    def __init__(self, key: str) -> None:
        self.text = f"!hold {key}"
        self.reached, self.ignored, self.passed = threading.Event(), threading.Event(), threading.Event()
        self._opened = threading.Event()
        self._waiting: list[Future[None]] = []

    def open(self) -> None:
        self._opened.set()
        for one in self._waiting:
            if one.set_running_or_notify_cancel():
                one.set_result(None)
        self._waiting.clear()

    def wait(self) -> None:
        """Wait in a thread."""
        self.reached.set()
        assert self._opened.wait(SECONDS), "nobody opened the gate"

    async def awaited(self) -> None:
        """Wait in the event loop; a cancellation ends it."""
        mine: Future[None] = Future()
        self._waiting.append(mine)
        if self._opened.is_set():
            self.open()
        self.reached.set()
        await asyncio.wrap_future(mine)

    def await_reached(self) -> None:
        assert self.reached.wait(SECONDS), "no node came to the gate"


def find(text: str) -> Gate | None:
    """Give the gate that a message names."""
    return _gates.get(text.removeprefix("!hold ")) if text.startswith("!hold ") else None


@contextmanager
def new() -> Iterator[Gate]:
    key = f"gate-{next(_numbers)}"
    made = _gates[key] = Gate(key)
    try:
        yield made
    finally:
        made.open()


def open_all() -> None:
    for one in list(_gates.values()):
        one.open()
