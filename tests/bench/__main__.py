"""python -m tests.bench: measure this machine, part by part, in one run; the figures of two machines do not compare."""

import argparse
import os
import platform
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.bench import growth, lineage, merges, page, peer, quiet, replay, runs, starting, streams, threads, tokens
from tests.bench.rounds import FULL, QUICK, Effort
from tests.bench.table import Line, head

BESIDE = "to GET /api/ok beside it"


@dataclass(frozen=True)
class Part:
    """What one name of `--only` measures; `named` is measured only when it is named."""

    title: str
    ratio: str
    lines: Callable[[Effort], Iterator[Line]]
    quick: bool = True
    named: bool = False

    def wanted(self, name: str, only: str | None, quick: bool) -> bool:
        """Say whether this part was asked for."""
        return only == name or (only is None and not self.named and (self.quick or not quick))


PARTS = {
    "threads": Part("Threads, 10,000 in the file", BESIDE, threads.small),
    "large": Part("Threads, 100,000 in the file", BESIDE, threads.large, quick=False),
    "runs": Part("Runs and states, 10,000 threads in the file", BESIDE, runs.small),
    "replay": Part("Going back, in process", "to get_state of the same head", replay.lines),
    "lineage": Part("Replay base in process, 50 turns", "to get_state of the same head", lineage.near),
    "ancestors": Part(
        "Replay base in process, 680 messages", "of a walk with get_state to it", lineage.far, quick=False
    ),
    "start": Part("Start in an empty folder, median", "none", starting.starts),
    "memory": Part("Memory at rest, PSS of all processes", "none", starting.memory),
    "merges": Part("Merges in process, 8 writers and 8 readers", "none", merges.merges),
    "growth": Part("The file with one conversation of 400 characters a message", "none", growth.lines),
    "page": Part("The chat page in Chromium", "none", page.lines),
    "streams": Part("JSON beside open event streams", "to the same without streams", streams.streams),
    "tokens": Part("A run that streams tokens", "to the same graph in process", tokens.tokens),
    "peer": Part("Beside langgraph dev, 1,000 threads each", "to langgraph dev", peer.lines, named=True),
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and not the 100,000 threads")
    parser.add_argument("--only", choices=PARTS, metavar="NAME", help="one part: " + ", ".join(PARTS))
    asked = parser.parse_args()
    # bytecode is kept, as it is where the service is installed
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.monotonic()
    print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores", flush=True)
    quiet.wait()
    for name, part in PARTS.items():
        if part.wanted(name, asked.only, asked.quick):
            print(head(part.title, part.ratio), flush=True)
            for line in part.lines(QUICK if asked.quick else FULL):
                print(line, flush=True)
    print(f"\n{time.monotonic() - began:.0f} s, load {quiet.load():.2f}")


if __name__ == "__main__":
    main()
