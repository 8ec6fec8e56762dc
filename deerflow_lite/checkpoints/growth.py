"""Which messages a checkpoint holds that an ancestor of it does not; only those are decoded, nothing is built.

A conversation mostly only grows: then the last full checkpoint of a branch holds the messages of all before it, and how
many of them each one holds stands at its beginning. Where that does not fit together, each checkpoint is read by
itself. Delta checkpoints are folded, each write once.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from deerflow_lite.checkpoints import fold, lineage, modes
from deerflow_lite.checkpoints.family import Family
from deerflow_lite.checkpoints.folding import Folded
from deerflow_lite.checkpoints.messages import Message, Outline, message_of, user
from deerflow_lite.checkpoints.prefix import full_length
from deerflow_lite.errors import LineageBroken, ParentMissing

_KEPT: Final = 8


class Growth:
    """Reads the messages of one thread's root checkpoints; those read last are kept, undecoded.

    `gate` may refuse a row; it is asked of every delta row, or of one that stands behind it.
    """

    def __init__(
        self, connection: sqlite3.Connection, thread_id: str, gate: Callable[[modes.Row], None] | None = None
    ) -> None:
        self._connection, self._thread_id, self._gate = connection, thread_id, gate
        self._kept: OrderedDict[str, Folded] = OrderedDict()
        self._known: dict[str, Folded] = {}
        self._settled: dict[str, bool] = {}

    def outline(self, family: Family, ends: Sequence[str], above: Sequence[int | None]) -> None:
        """Take in the ends of pieces, each with the number of the piece it stands on, so that few need be read."""
        for leaf in sorted(set(range(len(ends))).difference(above)):
            path: list[str] = []
            at: int | None = leaf
            while at is not None and ends[at] not in self._known:
                path.append(ends[at])
                at = above[at]
            try:
                self._outlined(family, path[::-1], self._known[ends[at]] if at is not None else Folded())
            except LineageBroken:
                continue

    def _outlined(self, family: Family, path: list[str], base: Folded) -> None:
        if not path:
            return
        stored = self._row(path[-1])
        if modes.mode(stored) == "delta":
            self._known = fold.descended(self._connection, self._thread_id, family) | self._known
            return
        counts = [base.count, *(full_length(family.starts.get(one, b"")) for one in path)]
        bare = [one for one, count in zip(path, counts[1:], strict=True) if count == 0]
        if any(modes.mode(self._row(one)) == "delta" for one in bare):
            return  # it holds nothing itself, and its messages stand in the writes of its ancestors
        held = self._own(stored, base)
        if base.same(held) == base.count and _grows(held, counts):
            self._known.update(zip(path, (held.first(count or 0) for count in counts[1:]), strict=True))

    def added(self, newest: str, base: str | None) -> list[Outline]:
        """Outline the messages of `newest` whose ids `base` lacks, in their order; raises LineageBroken."""
        before, after = Folded() if base is None else self._held(base), self._held(newest)
        found = after.after(before.same(after))
        return [one for one in found if one.id is None or not before.has(one.id)]

    def holds(self, checkpoint_id: str, message_id: str) -> bool:
        """Say whether a checkpoint holds a message; raises LineageBroken."""
        return self._held(checkpoint_id).has(message_id)

    def settled(self, checkpoint_id: str) -> bool:
        """Say whether nothing is scheduled on a checkpoint that can be read; one read for its messages has told."""
        if checkpoint_id not in self._settled:
            stored = modes.row(self._connection, self._thread_id, checkpoint_id)
            try:
                self._settled[checkpoint_id] = stored is not None and not lineage.pending(stored)
            except LineageBroken:
                return False
        return self._settled[checkpoint_id]

    def chosen(self, checkpoint_id: str, ids: set[str]) -> dict[str, Message]:
        """Give those of a checkpoint's messages that have one of these ids; raises LineageBroken."""
        held = self._held(checkpoint_id)
        return {
            one.id: message_of(one.entry, checkpoint_id)
            for one in held.outlines
            if one.id is not None and one.id in ids
        }

    def _held(self, checkpoint_id: str) -> Folded:
        if checkpoint_id in self._known:
            return self._known[checkpoint_id]
        found = self._kept.get(checkpoint_id)
        if found is None:
            found = self._kept[checkpoint_id] = self._own(self._row(checkpoint_id), Folded())
        self._kept.move_to_end(checkpoint_id)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found

    def _row(self, checkpoint_id: str) -> modes.Row:
        stored = modes.row(self._connection, self._thread_id, checkpoint_id)
        if stored is None:
            raise ParentMissing(checkpoint_id)
        if self._gate is not None:
            self._gate(stored)
        return stored

    def _own(self, stored: modes.Row, base: Folded) -> Folded:
        checkpoint = modes.unpacked(stored)
        with suppress(LineageBroken):
            self._settled[stored.checkpoint_id] = lineage.settled(checkpoint)
        own = fold.own(base, checkpoint, stored.checkpoint_id)
        return own or fold.held_at(self._connection, self._thread_id, stored).folded


def _grows(held: Folded, counts: list[int | None]) -> bool:
    """Say whether a branch only grew: each step as long as the one before, or longer by a question and what follows.

    Where a later step took something out, or put something else in its place, the questions stand elsewhere.
    """
    if counts[-1] != held.count:
        return False
    for before, after in zip(counts, counts[1:], strict=False):
        if before is None or after is None or after < before:
            return False
        new = held.first(after).after(before)
        if new and not (new[0].type == "human" and any(map(user, new))):
            return False
    return True
