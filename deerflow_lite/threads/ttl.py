"""When a thread's time to live is over: a pure rule, the same for every store."""

from datetime import datetime, timedelta

from deerflow_lite.threads.flags import archived, pinned
from deerflow_lite.threads.model import Thread


def expires_at(thread: Thread) -> str | None:
    """Give the time, None for a thread without one; what is archived or pinned is counted anew once it no longer is."""
    if thread.ttl_minutes is None:
        return None
    since = datetime.fromisoformat(max(thread.updated_at, thread.ttl_from or ""))
    return (since + timedelta(minutes=thread.ttl_minutes)).isoformat(timespec="microseconds")


def expired(thread: Thread, now: str) -> bool:
    """Say whether the time is over; it never is for a thread that is busy, archived or pinned."""
    at = expires_at(thread)
    return at is not None and at <= now and thread.status != "busy" and not archived(thread) and not pinned(thread)
