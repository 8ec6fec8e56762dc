"""Rounds of questions with `GET /api/ok` beside each of them; it knows no question itself.

The machine is shared and its clock moves: every question is asked right after one of the base, a round gives the p50 of
each, and what is told are the medians over the rounds, of the time and of the quotient within a round.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.table import Goal, Line

LIMIT_SECONDS = 45.0
Ask = Callable[[], float]


@dataclass(frozen=True)
class Question:
    """Something that is asked often; `ask` gives the seconds that count of one time."""

    what: str
    ask: Ask
    goal: Goal = Goal()


@dataclass(frozen=True)
class Effort:
    """How often everything is asked."""

    rounds: int
    each: int
    starts: int


FULL = Effort(rounds=15, each=12, starts=5)
QUICK = Effort(rounds=5, each=10, starts=3)


def p50(ask: Ask, times: int) -> float:
    """Give the p50 of some times, in ms."""
    return 1000 * median(ask() for _ in range(times))


def measured(base: Question, questions: Sequence[Question], effort: Effort) -> Iterator[Line]:
    """Ask everything for as many rounds as fit in LIMIT_SECONDS, after a first one that does not count."""
    times: dict[str, list[tuple[float, float]]] = {question.what: [] for question in questions}
    until = time.monotonic() + LIMIT_SECONDS
    for number in range(effort.rounds + 1):
        for question in questions:
            pair = _round(base.ask, question.ask, effort.each)
            if number:
                times[question.what].append(pair)
        if number and time.monotonic() > until:
            break
    bases = [before for pairs in times.values() for before, _ in pairs]
    yield Line(base.what, median(bases), 1.0, base.goal)
    for question in questions:
        pairs = times[question.what]
        quotient = median(mine / before for before, mine in pairs)
        yield Line(question.what, median(mine for _, mine in pairs), quotient, question.goal)


def _round(base: Ask, ask: Ask, each: int) -> tuple[float, float]:
    pairs = [(base(), ask()) for _ in range(each)]
    return 1000 * median(before for before, _ in pairs), 1000 * median(mine for _, mine in pairs)
