"""Messages as the writes of a lineage make them, undecoded; it reads no table and knows no checkpoint.

A write of a known id replaces, others are appended, removals and LangGraph's Overwrite are honoured. What only grows
shares one list with what it grew from, so that many checkpoints of a long conversation cost no more than the last one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Self

import ormsgpack

from deerflow_lite.checkpoints.messages import Outline, entries, outline_of, unpacked
from deerflow_lite.checkpoints.prefix import array_length

REMOVE_ALL: Final = "__remove_all__"
_OVERWRITE: Final = "__overwrite__"
_FIELDS: Final = 2
_ARRAY: Final = re.compile(rb"([\x90-\x9f])|\xdc(..)|\xdd(....)", re.DOTALL)


class _Line:
    """Messages one after another; of an id that stands twice the first place is known."""

    def __init__(self, entries: list[Any], outlines: list[Outline]) -> None:
        self.entries, self.outlines = entries, outlines
        self._places: dict[str, int] | None = None
        self._packed, self._ends = bytearray(), [0]

    @property
    def places(self) -> dict[str, int]:
        if self._places is None:  # many lists are only compared
            last = len(self.outlines) - 1
            numbered = enumerate(reversed(self.outlines))
            self._places = {one.id: last - number for number, one in numbered if one.id is not None}
        return self._places

    def append(self, entry: Any, outline: Outline) -> None:
        if self._places is not None and outline.id is not None:
            self._places.setdefault(outline.id, len(self.entries))
        self.entries.append(entry)
        self.outlines.append(outline)

    def size(self, count: int) -> int | None:
        """Give how many bytes LangGraph packs the first messages in, None where one is no object of a class."""
        for entry in self.entries[len(self._ends) - 1 : count]:
            if not isinstance(entry, tuple):
                break
            self._packed += ormsgpack.packb(ormsgpack.Ext(*entry))
            self._ends.append(len(self._packed))
        return self._ends[count] if count < len(self._ends) else None

    def packs(self, count: int, packed: bytes) -> bool:
        """Say whether these bytes are the first messages as LangGraph packs them."""
        return self.size(count) == len(packed) and self._packed.startswith(packed)


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The first `count` messages of a list that may have grown since; never changed."""

    _line: _Line = field(default_factory=lambda: _Line([], []))
    count: int = 0

    def has(self, message_id: str) -> bool:
        """Say whether a message of this id is among them."""
        return self._line.places.get(message_id, self.count) < self.count

    @property
    def entries(self) -> list[Any]:
        """Give the undecoded messages."""
        return self._line.entries[: self.count]

    @property
    def outlines(self) -> list[Outline]:
        """Give what decides about each message."""
        return self._line.outlines[: self.count]

    def after(self, count: int) -> list[Outline]:
        """Give what decides about the messages that come after the first ones."""
        return self._line.outlines[count : self.count]

    def same(self, other: Self) -> int:
        """Count the messages that two begin with in common."""
        if self._line is other._line:
            return min(self.count, other.count)
        return common(self.entries, other.entries)

    def stored(self, found: list[Any], checkpoint_id: str) -> Self:
        """Give what a checkpoint holds by itself: mostly what was expected, then nothing is decoded."""
        line = self._line
        same = common(line.entries, found)
        if same < len(found) and same < len(line.entries):
            line = _Line(line.entries[:same], line.outlines[:same])
        for entry in found[same:]:
            line.append(entry, outline_of(entry, checkpoint_id))
        return type(self)(line, len(found))

    def begins(self, snapshot: bytes) -> Self | None:
        """Give the messages of a packed snapshot where these begin with them; mostly it holds what was expected."""
        found = _ARRAY.match(snapshot)
        if found is None:
            return None
        count = array_length(*found.groups())
        same = count <= self.count and self._line.packs(count, snapshot[found.end() :])
        return self.first(count) if same else None

    def fits(self, count: int, size: int) -> bool:
        """Say whether these are as many messages and take as many bytes."""
        return count == self.count and size == self._line.size(count)

    def written(self, writes: Iterable[Any], checkpoint_id: str) -> Self:
        """Take the writes on a checkpoint in, in their order; raises CheckpointUnreadable."""
        held = self
        for write in writes:
            fresh = _overwrite(write, checkpoint_id)
            if fresh is not None:
                held = held.stored(fresh, checkpoint_id)
                continue
            for entry in entries(write, checkpoint_id):
                held = held._known(entry) or held._taken(entry, outline_of(entry, checkpoint_id))
        return held

    def first(self, count: int) -> Self:
        """Give the first messages alone."""
        return self if count == self.count else type(self)(self._line, count)

    def _known(self, entry: Any) -> Self | None:
        """Give the list with one more message where it went on with just this one before; nothing is decoded."""
        line, count = self._line, self.count
        if count >= len(line.entries) or line.entries[count] != entry:
            return None
        told = line.outlines[count]
        appended = told.type != "remove" and (told.id is None or line.places[told.id] == count)
        return type(self)(line, count + 1) if appended else None

    def _taken(self, entry: Any, outline: Outline) -> Self:
        if outline.type == "remove" and outline.id == REMOVE_ALL:
            return type(self)()
        place = self._line.places.get(outline.id, self.count) if outline.id is not None else self.count
        if outline.type == "remove":
            return self._with(place, [])
        return self._with(place, [outline]) if place < self.count else self._appended(entry, outline)

    def _appended(self, entry: Any, outline: Outline) -> Self:
        held = self if len(self._line.entries) == self.count else self._with(self.count, [])
        held._line.append(entry, outline)
        return type(self)(held._line, held.count + 1)

    def _with(self, place: int, instead: list[Outline]) -> Self:
        """Give a list of its own with something, or nothing, in place of one message."""
        entries, outlines = self.entries, self.outlines
        entries[place : place + 1] = [one.entry for one in instead]
        outlines[place : place + 1] = instead
        return type(self)(_Line(entries, outlines), len(outlines))


def _overwrite(write: Any, checkpoint_id: str) -> list[Any] | None:
    """Give the messages of LangGraph's Overwrite in any of its three forms, None for another write."""
    value = write
    if isinstance(write, tuple) and write[0] == _FIELDS:
        parts = unpacked(write[1], checkpoint_id)
        value = parts[_FIELDS] if isinstance(parts, list) and len(parts) > _FIELDS else None
    if isinstance(value, dict) and value.get("type") == _OVERWRITE and "value" in value:
        return list(entries(value["value"], checkpoint_id))
    if isinstance(value, dict) and set(value) == {_OVERWRITE}:
        return list(entries(value[_OVERWRITE], checkpoint_id))
    return None


def common(some: list[Any], others: list[Any]) -> int:
    """Count the equal elements at the beginning of two lists; mostly one begins with the whole of the other."""
    low, high = 0, min(len(some), len(others))
    middle = high
    while low < high:
        if some[low:middle] == others[low:middle]:
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return low
