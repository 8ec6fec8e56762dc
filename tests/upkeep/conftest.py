"""Services as processes, for what happens to the file under them; what still runs after a test is killed."""

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.processes import Served


@pytest.fixture
def start() -> Iterator[Callable[..., Served]]:
    """Start services on folders with settings."""
    started: list[Served] = []

    def one(*given: Any, **settings: Any) -> Served:
        started.append(Served(*given, **settings))
        return started[-1]

    yield one
    for served in started:
        if served.process.poll() is None:
            served.end(signal.SIGKILL)
