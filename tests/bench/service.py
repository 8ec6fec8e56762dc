"""The service that is measured, in a process of its own or in this one, over a folder that is removed afterwards."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from tests.bench import seed
from tests.bench.client import Client
from tests.processes import Served

GRAPHS = "noop=tests.sample_graphs:noop,slow=tests.sample_graphs:slow"


@contextmanager
def folder() -> Iterator[Path]:
    """Lend an instance folder."""
    with tempfile.TemporaryDirectory(prefix="deerflow-bench-", ignore_cleanup_errors=True) as outer:
        yield Path(outer) / "home"


@contextmanager
def in_process(**settings: Any) -> Iterator[Gateway]:
    """Lend a service without a server, with runs that execute, over a new folder."""
    with folder() as instance:
        gateway = Gateway.open(Config(**({"instance": instance} | settings)))
        gateway.start()
        try:
            yield gateway
        finally:
            gateway.stop(0)
            gateway.close()


@contextmanager
def served(instance: Path, **settings: Any) -> Iterator[Served]:
    """Serve a folder."""
    service = Served(instance, **({"graphs": GRAPHS, "log_level": "warning", "stop_grace": 0} | settings))
    try:
        yield service
    finally:
        try:
            service.end(signal.SIGTERM)
        except subprocess.TimeoutExpired:
            service.process.kill()


@contextmanager
def seeded(threads: int) -> Iterator[Client]:
    """Serve a new folder with so many threads, graphs loaded, and lend a client."""
    with folder() as instance:
        seed.fill(instance, threads)
        with served(instance) as service, Client(service.url) as client:
            run(client, thread(client))
            yield client


def thread(client: Client) -> str:
    """Make a thread and give its path."""
    return "/api/threads/" + str(client.ask("POST", "/api/threads", {})["thread_id"])


def run(client: Client, path: str) -> None:
    """Run the no-op graph on a thread."""
    client.ask("POST", path + "/runs/wait", {"assistant_id": "noop", "input": {}})
