"""Whether a stored checkpoint holds the first messages of another one, told by comparing bytes; no message is unpacked.

Along a lineage most checkpoints hold the beginning of what their child holds. Only the layout that LangGraph's saver
writes is recognised, byte by byte from the start of the row; for every other one there is no answer here.
"""

import re
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final, Self

import ormsgpack

from deerflow_lite.checkpoints import modes
from deerflow_lite.checkpoints.modes import Row

# A map that begins with v, ts, id and channel_values, of which `messages` is the first: then the array's own length.
_LAYOUT: Final = re.compile(
    rb"([\x80-\x8f]\xa1v[\x00-\x7f]\xa2ts(?:\xd9.|[\xa0-\xbf])[0-9T:.+Z-]+\xa2id\xd9\x24[0-9a-f-]{36}"
    rb"\xaechannel_values(?:[\x80-\x8f]|\xde..)\xa8messages)(?:([\x90-\x9f])|\xdc(..)|\xdd(....))",
    re.DOTALL,
)
_COUNT: Final = re.compile(
    rb"\xaechannel_values(?:\x80|(?:[\x81-\x8f]|\xde..)\xa8messages(?:([\x90-\x9f])|\xdc(..)|\xdd(....)))", re.DOTALL
)
_EMPTY: Final = b"\x90"


class Prefix:
    """The stored messages of one row, and where each of them ends."""

    def __init__(self, body: bytes = b"", ends: list[int] | None = None) -> None:
        self._body, self._ends = body, ends or []
        self._start = body

    @classmethod
    def of(cls, row: Row, entries: list[Any]) -> Self:
        """Take a row whose undecoded messages are known; one that another encoder wrote makes an empty prefix."""
        found = _LAYOUT.match(row.blob)
        if found is None or _length(found) != len(entries) or not all(isinstance(one, tuple) for one in entries):
            return cls()
        parts = [ormsgpack.packb(ormsgpack.Ext(code, data)) for code, data in entries]
        body = b"".join(parts)
        if not row.blob.startswith(body, found.end()):
            return cls()
        return cls(body, list(accumulate(map(len, parts), initial=0)))

    def read(self, row: Row) -> tuple[int, dict[str, Any]] | None:
        """Give how many messages a row holds, and the rest of it, where they are the first ones of this prefix.

        None where bytes do not tell; raises CheckpointUnreadable.
        """
        found = _LAYOUT.match(row.blob) if self._ends and isinstance(row.blob, bytes) else None
        count = -1 if found is None else _length(found)
        if found is None or count >= len(self._ends):
            return None
        end = self._ends[count]
        if len(self._start) != end:
            self._start = self._body[:end]
        if not row.blob.startswith(self._start, found.end()):
            return None
        return count, modes.unpacked(replace(row, blob=found[1] + _EMPTY + row.blob[found.end() + end :]))


def _length(found: re.Match[bytes]) -> int:
    return array_length(*found.groups()[1:])


def array_length(short: bytes | None, *longer: bytes | None) -> int:
    """Give the length of a packed array, from its one byte or from the two or four that follow it."""
    return short[0] & 0x0F if short else int.from_bytes(next((size for size in longer if size), b""))


def full_length(start: bytes) -> int | None:
    """Tell by its first bytes how many messages a full checkpoint holds; None where they stand further behind."""
    found = _COUNT.search(start)
    return None if found is None else array_length(*found.groups())


def snapshot_size(start: bytes) -> tuple[int, int] | None:
    """Give how many messages a delta checkpoint's snapshot has, and how many bytes they take; None where it has none.

    Only the first bytes of the checkpoint are looked at: None also where the snapshot stands further behind.
    """
    found = modes.SNAPSHOT_START.search(start)
    if found is None:
        return None
    size = int.from_bytes(next(one for one in found.groups()[:3] if one))
    short, two, *_ = found.groups()[3:]
    return array_length(short, *found.groups()[5::2]), size - (1 if short else 3 if two else 5)
