"""How long a start takes and what the service weighs at rest."""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.bench.client import Client
from tests.bench.rounds import Effort
from tests.bench.service import folder, run, served, thread
from tests.bench.table import Goal, Line

REST_SECONDS = 2.0


def starts(effort: Effort) -> Iterator[Line]:
    """Measure cold starts; a first one, which compiles what was never imported, does not count."""
    times = [started() for _ in range(effort.starts + 1)][1:]
    printed, listed, ran = (1000 * median(column) for column in zip(*times, strict=True))
    yield Line("start to the first line printed", printed)
    yield Line("start to the first 200 of a thread search", listed, None, Goal(600))
    yield Line("start to the first run answered", ran, None, Goal(1800))


def started() -> tuple[float, float, float]:
    """Start once in an empty folder and give the seconds to the first line, the first search and the first run."""
    began = time.perf_counter()
    with folder() as instance, served(instance) as service, Client(service.url) as client:
        printed = time.perf_counter() - began
        client.ask("POST", "/api/threads/search", {})
        listed = time.perf_counter() - began
        run(client, thread(client))
        return printed, listed, time.perf_counter() - began


def memory(effort: Effort) -> Iterator[Line]:
    """Measure the memory of all processes of the service, at the first 200 and after the first run."""
    weights = [weighed() for _ in range(effort.starts)]
    first, loaded = (median(column) for column in zip(*weights, strict=True))
    yield Line("memory at the first 200", first, None, Goal(65, "MB"))
    yield Line("memory once graphs are loaded", loaded, None, Goal(110, "MB"))


def weighed() -> tuple[float, float]:
    """Start once and give the two weights; graphs load behind the first line, so the first is read at once."""
    with folder() as instance, served(instance) as service, Client(service.url) as client:
        first = megabytes(service.process.pid)
        run(client, thread(client))
        time.sleep(REST_SECONDS)
        return first, megabytes(service.process.pid)


def megabytes(pid: int) -> float:
    """Give the proportional memory of a process and all below it."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    own = next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return own + sum(megabytes(int(child)) for task in tasks for child in task.read_text().split())
