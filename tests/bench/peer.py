"""LangGraph's own development server beside ours in one run, both over as many threads; it measures nothing else.

The server keeps everything in memory. It is installed into a virtual environment of its own the first time.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.client import Client
from tests.bench.rounds import Ask, Effort
from tests.bench.service import folder, served
from tests.bench.table import Goal, Line
from tests.processes import ROOT

HOME = ROOT / ".venv-peer"
PACKAGE = "langgraph-cli[inmem]>=0.4.40,<0.5"
THREADS = 1000
PATIENCE_SECONDS = 15.0
START_SECONDS = 120.0
GRAPH = "from tests.sample_graphs import noop\n"
CONFIG = {"dependencies": ["."], "graphs": {"noop": "./graphs.py:noop"}}
TURN = {"assistant_id": "noop", "input": {"messages": [{"type": "human", "content": "hello"}]}}


def lines(effort: Effort) -> Iterator[Line]:
    """Ask both the same, one right after the other; a quotient below one is ours for being faster."""
    program = installed()
    with peer(program) as theirs, folder() as instance, served(instance) as service:
        for url in (theirs, service.url):
            fill(url)
        for what, ask in QUESTIONS.items():
            # The peer closes a connection that was idle for some seconds.
            with Client(theirs) as there, Client(service.url) as here:
                pairs = list(asked_in_turn(ask(there), ask(here), effort))
            yield Line(f"{what}, langgraph dev", median(before for before, _ in pairs))
            quotient = median(mine / before for before, mine in pairs)
            yield Line(what, median(mine for _, mine in pairs), quotient, Goal(1, ratio=True))


def asked_in_turn(theirs: Ask, mine: Ask, effort: Effort) -> Iterator[tuple[float, float]]:
    """Ask one after the other, in ms, as often as the effort says or PATIENCE_SECONDS allow."""
    until = time.monotonic() + PATIENCE_SECONDS
    for _ in range(effort.rounds * effort.each):
        yield 1000 * theirs(), 1000 * mine()
        if time.monotonic() > until:
            return


def fill(url: str) -> None:
    """Make threads, and run once: that loads what a run needs."""
    with Client(url) as client:
        for number in range(THREADS):
            client.ask("POST", "/threads", {"metadata": {"number": number}})
        client.ask("POST", path(client) + "/runs/wait", TURN)


def installed() -> Path:
    """Give the program, installed on demand."""
    program = HOME / "bin" / "langgraph"
    if not (HOME / "installed").exists():
        print(f"installing {PACKAGE} into {HOME.name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
        subprocess.run([str(HOME / "bin" / "pip"), "install", "--quiet", PACKAGE], check=True)
        (HOME / "installed").touch()
    return program


@contextmanager
def peer(program: Path) -> Iterator[str]:
    """Run the server in a folder of its own and give its address."""
    with tempfile.TemporaryDirectory(prefix="peer-bench-", ignore_cleanup_errors=True) as place:
        (Path(place) / "graphs.py").write_text(GRAPH)
        (Path(place) / "langgraph.json").write_text(json.dumps(CONFIG))
        port = str(free_port())
        command = [str(program), "dev", "--no-browser", "--no-reload", "--port", port, "--server-log-level", "ERROR"]
        environ = os.environ | {"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        # A group of its own: the program starts others.
        process = subprocess.Popen(command, cwd=place, env=environ, start_new_session=True, **quiet)
        try:
            answers(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    """Give a port that nobody listens on: the peer cannot choose one itself."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the server is up."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url + "/ok", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            assert process.poll() is None, "the peer ended by itself"
            assert time.monotonic() < until, "the peer did not start"
            time.sleep(0.05)


def path(client: Client) -> str:
    """Make a thread and give its path."""
    return "/threads/" + str(client.ask("POST", "/threads", {})["thread_id"])


def asked(method: str, where: str, body: Any) -> Callable[[Client], Ask]:
    return lambda client: lambda: client.timed(method, where, body)


def on_a_new_thread(rest: str, event: str | None = None) -> Callable[[Client], Ask]:
    """Run once on a thread that is made outside the time that counts."""

    def prepared(client: Client) -> Ask:
        def ask() -> float:
            where = path(client) + rest
            return client.timed("POST", where, TURN) if event is None else client.until_event(where, TURN, event)

        return ask

    return prepared


QUESTIONS: dict[str, Callable[[Client], Ask]] = {
    "create a thread": asked("POST", "/threads", {}),
    "search, first page of 50": asked("POST", "/threads/search", {"limit": 50, "select": ["thread_id", "metadata"]}),
    "search, metadata filter": asked("POST", "/threads/search", {"metadata": {"number": 7}}),
    "no-op run, wait": on_a_new_thread("/runs/wait"),
    "no-op run, stream, first event": on_a_new_thread("/runs/stream", "metadata"),
    "no-op run, stream, first values": on_a_new_thread("/runs/stream", "values"),
}
