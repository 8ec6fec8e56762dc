"""What every room's tests may use: a service that executes runs, in a folder of the test's own."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite import create_app
from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from tests.processes import Served
from tests.runs import gates
from tests.service import Service

SAMPLES = ("chat", "ask", "noop", "boom", "slow", "nested", "typed")
OWN = (
    "held", "stubborn", "sleeper", "digging", "parallel", "beside", "writer", "contextual", "sending", "going",
    "delta", "counting",
    "held_delta", "writer_delta", "nested_held", "asking_then_held",
    "numbered", "halfway", "telling", "twice", "leaving", "leaving_the_loop", "keyed",
)  # fmt: skip
GRAPHS = {name: f"tests.sample_graphs:{name}" for name in SAMPLES} | {name: f"tests.runs.graphs:{name}" for name in OWN}


@contextmanager
def serving(folder: Path) -> Iterator[Callable[..., Service]]:
    """Lend what starts services with settings, on the folder `home` in this one unless given; each is stopped then."""
    started: list[Gateway] = []
    listed = folder / "langgraph.json"
    listed.write_text(json.dumps({"graphs": GRAPHS}))

    def one(*, executing: bool = True, **settings: Any) -> Service:
        config = Config(**({"instance": folder / "home", "graphs": str(listed)} | settings))
        gateway = Gateway.open(config, executing=executing)
        started.append(gateway)
        served = Service(create_app(gateway=gateway))
        if executing:
            gateway.start()
        return served

    yield one
    gates.open_all()
    for gateway in started:
        if not gateway.runs.stopping.is_set():
            gateway.stop(0)
            gateway.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Start services with settings; the folder is `home` of the test's unless given. Each is stopped after the test."""
    with serving(tmp_path) as one:
        yield one


@pytest.fixture
def service(serve: Callable[..., Service]) -> Service:
    return serve()


@pytest.fixture
def gate() -> Iterator[gates.Gate]:
    """A gate that a node of a graph waits at; its user message is `gate.text`."""
    with gates.new() as made:
        yield made


@pytest.fixture
def start() -> Iterator[Callable[..., Served]]:
    """Start services as processes, on folders and with settings; what still runs after the test is killed."""
    started: list[Served] = []

    def one(*given: Any, **settings: Any) -> Served:
        started.append(Served(*given, **settings))
        return started[-1]

    yield one
    for served in started:
        if served.process.poll() is None:
            served.end(signal.SIGKILL)
