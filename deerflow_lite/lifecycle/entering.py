"""Where each user message of a head entered its lineage, and by which run; it groups nothing into turns.

Only links are followed and only raw rows are read. A prompt that a middleware moved to another id inside the run is the
same prompt: it entered where the first of the two ids did.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from deerflow_lite.checkpoints import lineage
from deerflow_lite.checkpoints.fold import Held
from deerflow_lite.checkpoints.messages import CHANNEL, USER_SUFFIX, entries, id_of, prompt


@dataclass(frozen=True, slots=True)
class Entry:
    """The oldest checkpoint that holds a message without a gap up to the head, `step` links above it."""

    checkpoint_id: str
    step: int
    run_id: str | None


@dataclass
class Survey:
    """What a walk from a head has told so far.

    `entered` is by prompt id. `newest` tells, by the number of the last prompt that a checkpoint holds, the newest such
    checkpoint and the newest settled one. `run_id` is that of the checkpoint visited last.
    """

    entered: dict[str, Entry] = field(default_factory=dict)
    newest: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    run_id: str | None = None


def holds(held: Held, key: str) -> bool:
    """Say whether a checkpoint holds the prompt, under either of its ids."""
    return held.folded.has(key) or held.folded.has(key + USER_SUFFIX)


def survey(steps: Iterator[Held], prompts: Sequence[str], enough: Callable[[Survey], bool]) -> Survey:
    """Walk until `enough` is known or no parent is recorded; what still stands then entered by an unknown run."""
    found, waiting = Survey(), dict.fromkeys(prompts)
    child: Held | None = None
    step, last = -1, len(prompts) - 1
    for step, held in enumerate(steps):
        for key in _lost(child, held):
            if child is not None and key in waiting and not holds(held, key):
                del waiting[key]
                found.entered[key] = Entry(child.row.checkpoint_id, step - 1, _run_of(child, held, key))
        while last >= 0 and prompts[last] not in waiting:
            last -= 1
        _note(found.newest, held, last)
        found.run_id, child = run_id(held), held
        if enough(found):
            return found
    for key in waiting:
        assert child is not None, "a walk gives its head or raises"
        found.entered[key] = Entry(child.row.checkpoint_id, step, None)
    return found


def _note(newest: dict[int, tuple[str, str | None]], held: Held, last: int) -> None:
    first, settled = newest.get(last, (held.row.checkpoint_id, None))
    if settled is None and lineage.settled(held.checkpoint):
        settled = held.row.checkpoint_id
    newest[last] = (first, settled)


def _lost(child: Held | None, held: Held) -> list[str]:
    """Give the prompts of which the child holds an id that its parent does not."""
    if child is None:
        return []
    same = child.folded.same(held.folded)
    gone = (one.id for one in child.folded.after(same))
    return [prompt(one) for one in gone if one is not None and not held.folded.has(one)]


def run_id(held: Held) -> str | None:
    """Give the run that wrote a checkpoint; none for what was written by hand, by a branch or by another program."""
    try:
        found = orjson.loads(held.row.metadata or b"{}").get("run_id")
    except (orjson.JSONDecodeError, AttributeError):
        return None
    return found if isinstance(found, str) else None


def _run_of(child: Held, parent: Held, key: str) -> str | None:
    """Give the run that a prompt entered by; the settled copy of a run's input belongs to the run that it settles."""
    own = run_id(child)
    if own is not None:
        return own
    start = (parent.checkpoint.get("channel_values") or {}).get("__start__")
    given = start.get(CHANNEL) if isinstance(start, dict) else None
    at = parent.row.checkpoint_id
    sent = {id_of(one, at) for one in entries(given, at)}
    return run_id(parent) if sent.intersection((key, key + USER_SUFFIX)) else None
