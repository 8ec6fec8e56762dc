"""JSON calls while hundreds of event streams are open, against the same calls before and after."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median

from tests.bench.client import Client
from tests.bench.rounds import Effort, p50
from tests.bench.service import folder, run, served, thread
from tests.bench.table import Goal, Line
from tests.processes import ROOT, Served

STREAMS = 400
RUNS = 8
CALLS = 20
GOAL = Goal(3, ratio=True)
SLOW = {"assistant_id": "slow", "input": {"messages": [{"type": "human", "content": "wait", "id": "h"}]}}


def streams(effort: Effort) -> Iterator[Line]:
    """Measure with all streams open; the runs behind them wait for ever."""
    with folder() as instance, served(instance) as service, Client(service.url) as client:
        path = thread(client)
        run(client, path)
        followed = [waiting(client) for _ in range(RUNS)]
        asks = {
            "GET /api/ok": partial(client.timed, "GET", "/api/ok"),
            "read a thread": partial(client.timed, "GET", path),
            "search, first page": partial(client.timed, "POST", "/api/threads/search", {"limit": 50}),
            "patch, a metadata key": partial(client.timed, "PATCH", path, {"metadata": {"a": 1}}),
        }
        timed(asks, 2)
        before = timed(asks, effort.rounds)
        with following(service, followed) as left:
            during = timed(asks, 2 * effort.rounds)
            closed = left()
        after = timed(asks, effort.rounds)
    for what in asks:
        idle = median(before[what] + after[what])
        yield Line(f"{what}, {STREAMS} open streams", median(during[what]), median(during[what]) / idle, GOAL)
    yield Line("streams closed meanwhile", closed, None, Goal(0, ""))


def timed(asks: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Give the p50 of every round, in ms."""
    times: dict[str, list[float]] = {what: [] for what in asks}
    for _ in range(rounds):
        for what, ask in asks.items():
            times[what].append(p50(ask, CALLS))
    return times


def waiting(client: Client) -> str:
    """Start a run that waits for ever and give the path of its stream."""
    path = thread(client)
    return f"{path}/runs/{client.ask('POST', path + '/runs', SLOW)['run_id']}/stream"


@contextmanager
def following(service: Served, paths: list[str]) -> Iterator[Callable[[], int]]:
    """Open the streams from one process of their own; lends what closes them and counts those that were closed."""
    command = [sys.executable, "-m", "tests.bench.followers", service.url, str(STREAMS), *paths]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        try:
            assert process.stdout is not None
            opened = process.stdout.readline()
            assert opened == "open\n", f"the streams did not open: {opened!r}"
            yield lambda: int(process.communicate("")[0])
        finally:
            process.kill()
