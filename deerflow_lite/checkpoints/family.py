"""All root checkpoints of a thread as a tree, by ids and parent links alone; it decodes no checkpoint.

Invariants: every checkpoint stands in it exactly once, after its parent; a link that cannot be followed is reported
and cut, so that what hangs on it is still there; siblings stand in the order in which they were stored. A link that was
never recorded is no broken one: time tells it, step by step.
"""

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from deerflow_lite.checkpoints import modes

_TIME: Final = re.compile(rb"\xa2ts(?:\xd9.|[\xa0-\xbf])([0-9T:.+Z-]{19,40})", re.DOTALL)
_SMALL: Final = 4096  # bytes: of a larger checkpoint SQL would read all to give its beginning
_ROWS: Final = """
SELECT rowid, checkpoint_id, parent_checkpoint_id, type,
CASE WHEN typeof(checkpoint) = 'blob' AND length(checkpoint) <= ? THEN substr(checkpoint, 1, ?) END
FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY rowid
"""
_MAPS: Final = frozenset(bytes([code]) for code in (*range(0x80, 0x90), 0xDE, 0xDF))


@dataclass(frozen=True, slots=True)
class Broken:
    """A checkpoint that cannot be trusted, and why."""

    checkpoint_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Family:
    """`parents` and `children` without the broken links; `order` lists all ids, parents first, depth first.

    `stored` numbers the ids in the order in which they were stored; `starts` are the first bytes of each checkpoint.
    """

    parents: Mapping[str, str | None]
    children: Mapping[str | None, Sequence[str]]
    stored: Mapping[str, int]
    starts: Mapping[str, bytes]
    order: Sequence[str]
    broken: Sequence[Broken]

    def lineage(self, checkpoint_id: str | None) -> Iterator[str]:
        """Give a checkpoint and its ancestors, as far as the links can be followed."""
        while checkpoint_id is not None and checkpoint_id in self.parents:
            yield checkpoint_id
            checkpoint_id = self.parents[checkpoint_id]

    def written_at(self, checkpoint_id: str) -> str | None:
        """Give the time that a checkpoint carries."""
        found = _TIME.search(self.starts[checkpoint_id])
        return found[1].decode() if found else None

    def below(self, checkpoint_ids: Sequence[str]) -> set[str]:
        """Give these checkpoints and everything that descends from them."""
        found, waiting = set[str](), list(checkpoint_ids)
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting.extend(self.children.get(one, ()))
        return found


def family(connection: sqlite3.Connection, thread_id: str) -> Family:
    """Read the ids and the parent links of a thread in one statement, and the beginning of each checkpoint."""
    rows = connection.execute(_ROWS, (_SMALL, modes.BEGINNING, thread_id)).fetchall()
    stored = {row[1]: row[0] for row in rows}
    starts = {row[1]: _start(connection, row[0], *row[3:]) for row in rows}
    broken = [Broken(one, "it cannot be read") for one, start in starts.items() if start[:1] not in _MAPS]
    parents: dict[str, str | None] = {row[1]: row[2] or None for row in rows}
    for checkpoint_id, parent in parents.items():
        if parent is not None and parent not in stored:
            parents[checkpoint_id] = None
            broken.append(Broken(checkpoint_id, f"its parent {parent} is not in this thread"))
    parents |= _by_time(connection, thread_id, parents, [row[1] for row in rows if not row[2]])
    children = _children(parents)
    order = _ordered(children)
    if len(order) < len(parents):
        for checkpoint_id in _circles(parents):
            parents[checkpoint_id] = None
            broken.append(Broken(checkpoint_id, "its parents lead back to itself"))
        children = _children(parents)
        order = _ordered(children)
    return Family(parents, children, stored, starts, order, broken)


def _children(parents: Mapping[str, str | None]) -> dict[str | None, list[str]]:
    children: dict[str | None, list[str]] = {}
    for checkpoint_id, parent in parents.items():
        children.setdefault(parent, []).append(checkpoint_id)
    return children


def _start(connection: sqlite3.Connection, number: int, kind: str | None, known: bytes | None) -> bytes:
    """Give the first bytes of a checkpoint; of a large one they are read alone."""
    if kind != "msgpack":
        return b""
    if known is not None:
        return known
    try:
        with connection.blobopen("checkpoints", "checkpoint", number, readonly=True) as blob:
            return blob.read(modes.BEGINNING)
    except sqlite3.OperationalError:
        return b""


def _by_time(
    connection: sqlite3.Connection, thread_id: str, parents: Mapping[str, str | None], unlinked: Sequence[str]
) -> dict[str, str]:
    """Link old checkpoints that record no parent to the one before, where they are the step after it."""
    if len(unlinked) < 2:
        return {}
    ids = sorted(parents)
    before = {one: ids[bisect_left(ids, one) - 1] for one in unlinked if one != ids[0]}
    stored = metadata(connection, thread_id, [*before, *before.values()])
    steps = {checkpoint_id: found.get("step") for checkpoint_id, found in stored.items()}
    return {
        checkpoint_id: parent
        for checkpoint_id, parent in before.items()
        if isinstance(step := steps.get(parent), int) and steps.get(checkpoint_id) == step + 1
    }


def _circles(parents: Mapping[str, str | None]) -> list[str]:
    """Give one checkpoint of each circle, the one that was stored first."""
    place = {checkpoint_id: number for number, checkpoint_id in enumerate(parents)}
    done, found = set[str](), list[str]()
    for start in parents:
        walked: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in done and at not in walked:
            walked[at] = None
            at = parents[at]
        if at is not None and at in walked:
            path = list(walked)
            found.append(min(path[path.index(at) :], key=place.__getitem__))
        done |= walked.keys()
    return found


def _ordered(children: Mapping[str | None, Sequence[str]]) -> list[str]:
    order: list[str] = []
    waiting = list(reversed(children.get(None, ())))
    while waiting:
        one = waiting.pop()
        order.append(one)
        waiting.extend(reversed(children.get(one, ())))
    return order


def metadata(
    connection: sqlite3.Connection, thread_id: str, checkpoint_ids: Sequence[str]
) -> dict[str, dict[str, object]]:
    """Give the metadata of root checkpoints; what cannot be read is an empty object."""
    rows = connection.execute(
        "SELECT checkpoint_id, metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
        " AND checkpoint_id IN (SELECT value FROM json_each(?))",
        (thread_id, orjson.dumps(checkpoint_ids).decode()),
    ).fetchall()
    return {checkpoint_id: _object(text) for checkpoint_id, text in rows}


def _object(text: bytes | str | None) -> dict[str, object]:
    try:
        found = orjson.loads(text or b"{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
