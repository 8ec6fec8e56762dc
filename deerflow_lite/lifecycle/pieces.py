"""The checkpoints of a thread cut into pieces, each what one execution stored without a fork; it reads no message.

Invariants: every checkpoint is in exactly one piece, a piece after the one it hangs on; what a run's row records is
used only where the parent links lead from its last checkpoint to its base, else the checkpoint's own metadata decides.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from deerflow_lite.checkpoints.family import Family, metadata
from deerflow_lite.runs.traces import Trace


@dataclass(frozen=True, slots=True)
class Label:
    """What a checkpoint tells of the execution that stored it."""

    run_id: str | None
    begins: bool = False
    step: object = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A chain of checkpoints, oldest first; `above` is the number of the piece that `base`, its parent, stands in."""

    rows: tuple[str, ...]
    above: int | None
    base: str | None
    run_id: str | None


def labels(connection: sqlite3.Connection, thread_id: str, family: Family, runs: Iterable[Trace]) -> dict[str, Label]:
    """Label every checkpoint; the metadata of those that a run's row accounts for is not read, for it lies far."""
    found: dict[str, Label] = {}
    for run in runs:
        own = _between(family, run, found)
        found.update((checkpoint_id, Label(run.run_id)) for checkpoint_id in own)
    rest = [checkpoint_id for checkpoint_id in family.order if checkpoint_id not in found]
    stored = metadata(connection, thread_id, rest)
    found.update((checkpoint_id, _label(stored.get(checkpoint_id, {}))) for checkpoint_id in rest)
    return found


def _between(family: Family, run: Trace, taken: Mapping[str, Label]) -> list[str]:
    """Give the checkpoints from a run's last one up to its base, nothing where the links do not lead there."""
    own: list[str] = []
    if run.base is None or run.last_root is None:
        return own
    for checkpoint_id in family.lineage(run.last_root):
        if checkpoint_id == run.base:
            return own
        if checkpoint_id in taken:
            return []
        own.append(checkpoint_id)
    return []


def _label(stored: Mapping[str, object]) -> Label:
    run_id = stored.get("run_id")
    return Label(run_id if isinstance(run_id, str) else None, stored.get("source") != "loop", stored.get("step"))


def cut(family: Family, labelled: Mapping[str, Label], settled: Callable[[str], bool]) -> list[Piece]:
    """Cut the tree into pieces, in its own order; where no run is named, `settled` tells where one ended."""
    chains: list[list[str]] = []
    above: list[int | None] = []
    place: dict[str, int] = {}
    for checkpoint_id in family.order:
        parent = family.parents[checkpoint_id]
        if parent is not None and _goes_on(family, labelled, settled, parent, checkpoint_id):
            place[checkpoint_id] = place[parent]
            chains[place[parent]].append(checkpoint_id)
            continue
        place[checkpoint_id] = len(chains)
        chains.append([checkpoint_id])
        above.append(None if parent is None else place[parent])
    return [
        Piece(tuple(rows), upper, family.parents[rows[0]], labelled[rows[0]].run_id)
        for rows, upper in zip(chains, above, strict=True)
    ]


def _goes_on(
    family: Family, labelled: Mapping[str, Label], settled: Callable[[str], bool], parent: str, child: str
) -> bool:
    """Say whether two checkpoints are steps of one execution."""
    before, after = labelled[parent], labelled[child]
    if len(family.children[parent]) > 1 or before.run_id != after.run_id:
        return False
    if after.run_id is not None:
        return True
    steps = isinstance(before.step, int) and after.step == before.step + 1
    return steps and not after.begins and not settled(parent)
