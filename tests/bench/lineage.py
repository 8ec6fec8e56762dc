"""How long it takes to find the replay base of a turn, and how much longer a walk with `get_state` takes for it.

Lines without `confirmed` are the raw resolver alone, as it answers where no graph can be built; the question of the
graph that follows it is one `get_state`.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median

from deerflow_lite.lifecycle import base
from tests.bench.rounds import Effort, Question, measured
from tests.bench.table import Goal, Line
from tests.bench.talks import MODES, Talk, talk

NEAR = {1: 1.0, 10: 2.0, 100: 12.0}
FAR = {"full": {3: 7, 99: 14, 999: 30}, "delta": {3: 6, 99: 50, 999: 100}}


def near(effort: Effort) -> Iterator[Line]:
    """Measure 50 turns, beside one `get_state` of the head."""
    for mode in MODES:
        with talk(mode, 50, last="exit") as held:
            read = Question(f"get_state of the head, {mode}", timed(lambda held=held: _read(held, held.head)))
            questions = [
                Question(f"{parents} ancestors, {mode}", timed(_raw(held, (parents - 1) // 3)), Goal(goal))
                for parents, goal in NEAR.items()
            ]
            # The state that confirms the base of the last turn is one turn shorter than the head's.
            confirmed = Question(f"1 ancestor, confirmed, {mode}", timed(lambda held=held: _base(held, 0)), Goal(3))
            yield from measured(read, [*questions, confirmed], effort)


def far(effort: Effort) -> Iterator[Line]:
    """Measure 680 messages; the ratio is that of a walk on the same file to the resolver."""
    for mode in MODES:
        with talk(mode, 340) as held:
            for parents, goal in FAR[mode].items():
                raw, walk = _raw(held, parents // 3 - 1), _walk(held, parents // 3 - 1)
                times = max(2, effort.rounds * 3 // parents)
                pairs = [(timed(walk)(), timed(raw)()) for _ in range(times)]
                ratio = median(long / short for long, short in pairs)
                found = 1000 * median(short for _, short in pairs)
                yield Line(f"{parents} ancestors, {mode}", found, ratio, Goal(goal, at_least=True, ratio=True))


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """Give a call's seconds."""

    def ask() -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    return ask


def _read(held: Talk, checkpoint_id: str) -> object:
    return held.graph.get_state(held.place(checkpoint_id))


def _base(held: Talk, back: int) -> str:
    message_id = f"u{held.turns - 1 - back}"
    return base.replay_base(held.gateway.rooms, held.thread, message_id, head=held.head).checkpoint_id


def _raw(held: Talk, back: int) -> Callable[[], str]:
    alone = replace(held, thread=replace(held.thread, metadata='{"graph_id":"gone"}'))
    return lambda: _base(alone, back)


def _walk(held: Talk, back: int) -> Callable[[], str]:
    """Read every ancestor until one is settled and lacks the message."""
    message_id = f"u{held.turns - 1 - back}"

    def walk() -> str:
        place = held.place(held.head)
        while True:
            found = held.graph.get_state(place)
            if not found.next and message_id not in {message.id for message in found.values["messages"]}:
                checkpoint_id: str = found.config["configurable"]["checkpoint_id"]
                return checkpoint_id
            place = found.parent_config

    assert walk() == _raw(held, back)() == _base(held, back)
    return walk
