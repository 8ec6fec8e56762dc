"""Which messages a checkpoint holds that an ancestor of it does not; only those are decoded, nothing is built.

A conversation mostly only grows: then the last checkpoint of a branch holds the messages of all before it, and how many
of them each one holds stands at its beginning. Where that does not fit together, each checkpoint is read by itself, and
what two have in common is compared as stored bytes.
"""

import re
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from deerflow_lite.checkpoints import fold, modes
from deerflow_lite.checkpoints.messages import CHANNEL, Message, entries, id_of, message_of, outline_of, user
from deerflow_lite.errors import LineageBroken, ParentMissing

_KEPT: Final = 8
_COUNT: Final = re.compile(
    rb"\xaechannel_values(?:\x80|(?:[\x81-\x8f]|\xde..)\xa8messages(?:([\x90-\x9f])|\xdc(..)|\xdd(....)))", re.DOTALL
)
_View = tuple[list[Any], int]


class Growth:
    """Reads the messages of one thread's root checkpoints; those read last are kept, undecoded."""

    def __init__(self, connection: sqlite3.Connection, thread_id: str, depth: int) -> None:
        self._connection, self._thread_id, self._depth = connection, thread_id, depth
        self._kept: OrderedDict[str, list[Any]] = OrderedDict()
        self._known: dict[str, _View] = {}

    def outline(self, ends: Sequence[str], above: Sequence[int | None], starts: Mapping[str, bytes]) -> None:
        """Take in the ends of pieces, each with the number of the piece it stands on, so that few need be read."""
        for leaf in sorted(set(range(len(ends))).difference(above)):
            path: list[str] = []
            at: int | None = leaf
            while at is not None and ends[at] not in self._known:
                path.append(ends[at])
                at = above[at]
            try:
                self._outlined(path[::-1], self._known[ends[at]] if at is not None else ([], 0), starts)
            except LineageBroken:
                continue

    def _outlined(self, path: list[str], base: _View, starts: Mapping[str, bytes]) -> None:
        stored = self._row(path[-1])
        if modes.mode(stored) == "full":
            found, counts = self._own(stored), [_count(starts.get(one, b"")) for one in path]
            shared = base[0][: base[1]]
            if _grows(found, [base[1], *counts], path[-1]) and found[: base[1]] == shared:
                found[: base[1]] = shared  # the same objects, once in memory
                self._known.update(zip(path, ((found, count or 0) for count in counts), strict=True))
            return
        wanted = set(path)
        for held in fold.Reader(self._connection, self._thread_id, self._depth).walk(path[-1]):
            if held.row.checkpoint_id in wanted:
                self._known[held.row.checkpoint_id] = held.entries, len(held.entries)
                wanted.discard(held.row.checkpoint_id)
            if not wanted:
                return

    def added(self, newest: str, base: str | None) -> list[Message]:
        """Give the messages of `newest` whose ids `base` lacks, in their order; raises LineageBroken."""
        before, count = ([], 0) if base is None else self._view(base)
        after, total = self._view(newest)
        same = min(count, total) if before is after else _common(before[:count], after[:total])
        known = {id_of(entry, newest) for entry in before[same:count]} - {None}
        found = (message_of(entry, newest) for entry in after[same:total])
        return [message for message in found if message.id not in known]

    def holds(self, checkpoint_id: str, message_id: str) -> bool:
        """Say whether a checkpoint holds a message; raises LineageBroken."""
        return message_id in self.chosen(checkpoint_id, {message_id})

    def chosen(self, checkpoint_id: str, ids: set[str]) -> dict[str, Message]:
        """Give those of a checkpoint's messages that have one of these ids; raises LineageBroken."""
        held, count = self._view(checkpoint_id)
        found = ((id_of(entry, checkpoint_id), entry) for entry in held[:count])
        return {one: message_of(entry, checkpoint_id) for one, entry in found if one is not None and one in ids}

    def _view(self, checkpoint_id: str) -> _View:
        """Give a list that begins with what a checkpoint holds, and how many of it that is."""
        if checkpoint_id in self._known:
            return self._known[checkpoint_id]
        found = self._kept.get(checkpoint_id)
        if found is None:
            found = self._kept[checkpoint_id] = self._own(self._row(checkpoint_id))
        self._kept.move_to_end(checkpoint_id)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found, len(found)

    def _row(self, checkpoint_id: str) -> modes.Row:
        stored = modes.row(self._connection, self._thread_id, checkpoint_id)
        if stored is None:
            raise ParentMissing(checkpoint_id)
        return stored

    def _own(self, stored: modes.Row) -> list[Any]:
        checkpoint = modes.unpacked(stored)
        values = checkpoint.get("channel_values") or {}
        if CHANNEL in values or CHANNEL not in (checkpoint.get("channel_versions") or {}):
            return entries(values.get(CHANNEL), stored.checkpoint_id)
        return fold.held_at(self._connection, self._thread_id, stored).entries


def _count(start: bytes) -> int | None:
    """Tell by its first bytes how many messages a full checkpoint holds; None where they stand further behind."""
    found = _COUNT.search(start)
    if found is None:
        return None
    short, *longer = found.groups()
    return short[0] - 0x90 if short else int.from_bytes(next((size for size in longer if size), b""), "big")


def _grows(found: list[Any], counts: list[int | None], checkpoint_id: str) -> bool:
    """Say whether a branch only grew: each step as long as the one before, or longer by a question and what follows.

    Where a later step took something out, or put something else in its place, the questions stand elsewhere.
    """
    if counts[-1] != len(found):
        return False
    for before, after in zip(counts, counts[1:], strict=False):
        if before is None or after is None or after < before:
            return False
        new = (outline_of(one, checkpoint_id) for one in found[before:after])
        first = next(new, None)
        if first is not None and not (first.type == "human" and any(map(user, chain([first], new)))):
            return False
    return True


def _common(before: list[Any], after: list[Any]) -> int:
    if after[: len(before)] == before:
        return len(before)
    for number, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return number
    return min(len(before), len(after))
