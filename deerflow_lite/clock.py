"""The only source of time and chance; it stores nothing.

Times are ISO-8601 UTC with microseconds and offset, always 32 characters, so that text order is time order.
"""

import math
from datetime import UTC, datetime, timedelta

import uuid_utils


def now() -> str:
    """Give the present as `2026-01-02T03:04:05.000006+00:00`."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def later(seconds: float) -> str:
    """Give the time in `seconds` from now, in the form of `now`."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def seconds_until(at: str) -> float:
    """Give the seconds from now to a time, none for one that has passed; what is no time never comes."""
    try:
        return max(0.0, (datetime.fromisoformat(at) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return math.inf


def new_id() -> str:
    """Give a UUIDv7 as text: ids made later sort later."""
    return str(uuid_utils.uuid7())


def after(days: int) -> str:
    """Give the time so many days from now, in the form of `now`."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="microseconds")
