"""Stored messages compared by bytes: the answer is what decoding gives, and there is one only where bytes tell."""

from dataclasses import replace
from typing import Any

import ormsgpack
import pytest

from deerflow_lite.checkpoints.messages import entries
from deerflow_lite.checkpoints.modes import Row, unpacked
from deerflow_lite.checkpoints.prefix import Prefix
from deerflow_lite.errors import CheckpointUnreadable


def message(number: int, size: int = 5) -> ormsgpack.Ext:
    return ormsgpack.Ext(5, ormsgpack.packb(["m", "M", {"id": f"m{number}", "content": "x" * size}, "f"]))


def row(messages: list[Any], order: str = "messages first", **more: Any) -> Row:
    values: dict[str, Any] = {"messages": messages, "title": "t"}
    if order != "messages first":
        values = dict(reversed(values.items()))
    checkpoint_id = "1f1ecb50-d295-68c1-bfff-291a9a8ec255"
    stored = {"v": 4, "ts": "2026-11-30T14:19:00.123456+00:00", "id": checkpoint_id, "channel_values": values}
    blob = ormsgpack.packb(stored | {"channel_versions": {"messages": len(messages)}} | more)
    return Row(checkpoint_id, None, "msgpack", blob, b"{}")


def prefix(held: Row) -> Prefix:
    return Prefix.of(held, entries(unpacked(held)["channel_values"]["messages"], held.checkpoint_id))


SIZES = (1, 30, 200, 250, 300, 70_000)
LONG = [message(number, SIZES[number % len(SIZES)]) for number in range(40)]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 39, 40])
def test_a_row_that_holds_the_first_messages_is_told_with_the_rest_of_it(count: int) -> None:
    held = row(LONG[:count], versions_seen={"model": {"a": 1}})
    rest = unpacked(held)
    rest["channel_values"]["messages"] = []
    assert prefix(row(LONG)).read(held) == (count, rest)


def test_one_prefix_answers_for_longer_and_shorter_rows_in_any_order() -> None:
    known = prefix(row(LONG))
    for count in (40, 3, 25, 0, 40, 17):
        read = known.read(row(LONG[:count]))
        assert read is not None and read[0] == count


@pytest.mark.parametrize(
    "other",
    [
        row([*LONG, message(41)]),
        row([message(99), *LONG[1:]]),
        row([*LONG[:20], message(99)]),
        row(LONG[1:]),
        row(LONG[:5], "title first"),
        row([{"type": "human", "id": "m0"}]),
        replace(row(LONG[:5]), blob=b""),
        replace(row(LONG[:5]), blob=ormsgpack.packb([1, 2])),
    ],
)
def test_where_bytes_do_not_tell_there_is_no_answer(other: Row) -> None:
    assert prefix(row(LONG)).read(other) is None


@pytest.mark.parametrize("end", [b"", b"\xa8messag", b"\xa8messages", b"\xa8messages\xc1", b"\xc1\xc1\xc1"])
def test_a_row_whose_end_cannot_be_decoded_is_unreadable(end: bytes) -> None:
    held = row(LONG[:7])
    cut = replace(held, blob=held.blob.removesuffix(b"\xa8messages\x07") + end)
    with pytest.raises(CheckpointUnreadable):
        unpacked(cut)
    with pytest.raises(CheckpointUnreadable):
        prefix(row(LONG)).read(cut)


def test_a_row_of_another_encoder_makes_no_prefix() -> None:
    plain = row(LONG[:1])
    [(_, body)] = entries(unpacked(plain)["channel_values"]["messages"], "c")
    wide = plain.blob.replace(b"\xc7" + bytes([len(body)]), b"\xc8\x00" + bytes([len(body)]))
    assert wide != plain.blob
    held = replace(plain, blob=wide)
    assert unpacked(held) == unpacked(plain)
    assert prefix(held).read(held) is None
