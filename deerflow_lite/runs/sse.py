"""The form of an event stream: a pure function from events to bytes."""

from typing import Final

from deerflow_lite.runs.model import Event

LAST: Final = 2**62
HEARTBEAT: Final = b": heartbeat\n\n"


def frame(event: Event) -> bytes:
    """Give one event as the lines `event`, `data`, `id` and an empty one."""
    return b"event: %b\ndata: %b\nid: %d\n\n" % (event.event.encode(), event.data, event.id)


def cursor(last_event_id: str | None) -> int:
    """Read a Last-Event-ID; absent, -1 and what is no number mean: from the first."""
    text = (last_event_id or "").strip()
    return min(int(text[:19]), LAST) if text.isascii() and text.isdecimal() else 0
