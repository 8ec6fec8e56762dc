"""How large the file becomes with one long conversation, its event logs included, and what a prune leaves of it.

Every run goes the ordinary way, in process, and streams what a run streams by itself, `values`.
"""

from collections.abc import Iterator
from typing import Final

from deerflow_lite.gateway import Gateway
from deerflow_lite.runs.model import RunRequest
from deerflow_lite.threads.model import NewThread
from tests.bench.rounds import FULL, Effort
from tests.bench.service import in_process
from tests.bench.table import Goal, Line
from tests.bench.talks import TEXT

OWNER, THREAD = "default", "talk"
MEGABYTE: Final = 1_000_000
TURNS, FEWER = 500, 100
GOALS: Final = {"full": 160.0, "delta": 35.0}
NAMES: Final = {"full": "full", "delta": "delta, a snapshot every 10"}


def lines(effort: Effort) -> Iterator[Line]:
    """Measure in both checkpoint modes; fewer turns have no goal."""
    turns = TURNS if effort == FULL else FEWER
    for mode, goal in GOALS.items():
        with in_process(graphs=f"{mode}=tests.bench.talks:{mode}", synchronous="normal") as gateway:
            _talk(gateway, mode, turns)
            gateway.keeping.tidy(gateway.threads.get(OWNER, THREAD).row)  # what the rounds of the service do in time
            what = f"{turns} turns, {NAMES[mode]}"
            yield Line(f"{what}, not pruned", _megabytes(gateway), None, Goal(unit="MB"))
            gateway.pruning.prune(OWNER, THREAD)
            yield Line(f"{what}, pruned", _megabytes(gateway), None, Goal(goal if turns == TURNS else None, "MB"))


def _talk(gateway: Gateway, mode: str, turns: int) -> None:
    gateway.opening.create(OWNER, NewThread(THREAD, {}))
    assistant = gateway.graphs.assistant(mode)
    for _ in range(turns):
        given = {"messages": [{"type": "human", "content": TEXT}]}
        request = RunRequest(assistant.assistant_id, mode, input=given)
        run, live = gateway.runs.post(OWNER, THREAD, request)
        live.wait(60)
        assert gateway.runs.get(OWNER, THREAD, run.run_id).status == "success"


def _megabytes(gateway: Gateway) -> float:
    """Give the size of the file and of the log beside it, once free pages are given back."""
    gateway.db.give_back()
    return sum(gateway.db.sizes().values()) / MEGABYTE
