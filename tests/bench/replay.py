"""Going back in a conversation, in process: prepare a regenerate, branch, draw the tree.

The ratio is to one `get_state` of the same head, the cheapest thing LangGraph itself does there.
"""

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from deerflow_lite.gateway import Gateway
from deerflow_lite.runs.model import RunRequest
from deerflow_lite.threads.model import NewThread
from tests.bench.rounds import Effort
from tests.bench.service import in_process
from tests.bench.table import Goal, Line

OWNER = "default"
TURNS, MORE, LONG, FORKS = 50, 100, 450, 50
BRANCH = {"full": Goal(12), "delta": Goal(15)}


def lines(effort: Effort) -> Iterator[Line]:
    """Measure in both checkpoint modes."""
    for mode in ("full", "delta"):
        with in_process(checkpoint_mode=mode) as gateway:
            yield from _prepared(gateway, mode, effort.each)
            yield from _drawn(gateway, mode, effort.each)


def _prepared(gateway: Gateway, mode: str, times: int) -> Iterator[Line]:
    _talk(gateway, "talk", TURNS)
    answer = _answer(gateway, "talk")
    state = _time(lambda: _state(gateway, "talk"), times)
    prepare = _time(lambda: gateway.replaying.regenerate(OWNER, "talk", answer), times)
    yield Line(f"prepare, last of {TURNS} turns, {mode}", prepare, prepare / state, Goal(3))
    branch = _time(lambda: gateway.branching.branch(OWNER, "talk", answer), times)
    yield Line(f"branch from the last of {TURNS} turns, {mode}", branch, branch / state, BRANCH[mode])
    for _ in range(MORE):
        gateway.updating.update(OWNER, "talk", {"messages": []}, "model", None)
    more = _time(lambda: gateway.replaying.regenerate(OWNER, "talk", answer), times)
    yield Line(f"prepare with {MORE} more ancestors, {mode}", more, more / state, Goal(8))


def _drawn(gateway: Gateway, mode: str, times: int) -> Iterator[Line]:
    bases = _talk(gateway, "tree", LONG)
    for number in range(FORKS):
        _ask(gateway, "tree", f"fork {number}", bases[number * (LONG // FORKS)])
    turns = len(gateway.trees.tree(OWNER, "tree").turns)
    drawn = _time(lambda: gateway.trees.tree(OWNER, "tree"), times)
    yield Line(f"tree of {turns} turns with {FORKS} forks, {mode}", drawn, None, Goal(60))


def _talk(gateway: Gateway, thread_id: str, turns: int) -> list[str]:
    """Hold a conversation and give the head before each turn."""
    gateway.opening.create(OWNER, NewThread(thread_id, {}))
    heads = []
    for number in range(turns):
        thread = gateway.threads.get(OWNER, thread_id)
        heads.append(thread.head or thread.root or "")
        _ask(gateway, thread_id, f"question {number}", None)
    return heads


def _ask(gateway: Gateway, thread_id: str, text: str, base: str | None) -> None:
    assistant = gateway.graphs.assistant("agent")
    given = {"messages": [{"role": "user", "content": text}]}
    request = RunRequest(assistant.assistant_id, "agent", input=given, checkpoint_id=base)
    run, live = gateway.runs.post(OWNER, thread_id, request)
    live.wait(60)
    assert gateway.runs.get(OWNER, thread_id, run.run_id).status == "success"


def _answer(gateway: Gateway, thread_id: str) -> str:
    return str(_state(gateway, thread_id).values["messages"][-1].id)


def _state(gateway: Gateway, thread_id: str) -> Any:
    thread = gateway.threads.get(OWNER, thread_id)
    with gateway.graphs.opened("agent") as graph:
        view = gateway.rooms.savers.reading("agent", graph, thread.head)
        return view.get_state({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})


def _time(call: Callable[[], Any], times: int) -> float:
    """Give the median of milliseconds."""
    call()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1000)
    return median(found)
