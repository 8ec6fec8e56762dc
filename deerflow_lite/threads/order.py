"""The orders in which threads are listed; it knows neither SQL nor a store.

Invariants: the default order is pinned first, then updated_at, then thread_id, all descending; only it has places
that a cursor can name; every order ends with thread_id, so that no two threads tie.
"""

from collections.abc import Callable
from typing import Any, Final

from deerflow_lite.errors import Invalid
from deerflow_lite.threads import flags
from deerflow_lite.threads.model import Page, Thread

SORTS: Final = ("thread_id", "status", "created_at", "updated_at", "state_updated_at")
Place = tuple[int, str, str]


def sort_name(page: Page) -> str | None:
    """Give the field that the page sorts by, None for the default order.

    Raises Invalid for an unknown field, and for a cursor in another order than the default one.
    """
    if page.sort_by is None or (page.sort_by == "updated_at" and page.descending):
        return None
    if page.sort_by not in SORTS:
        raise Invalid({"sort_by": [f"must be one of {', '.join(SORTS)}"]})
    if page.cursor is not None:
        raise Invalid({"cursor": ["goes with the default order only"]})
    return page.sort_by


def place(thread: Thread) -> Place:
    """Give the thread's place in the default order."""
    return int(flags.pinned(thread)), thread.updated_at, thread.thread_id


def sort_key(page: Page) -> Callable[[Thread], tuple[Any, ...]]:
    """Give the key that sorts threads as the page asks; the direction is `descending(page)`."""
    name = sort_name(page)
    if name is None:
        return place
    return lambda thread: (getattr(thread, name), thread.thread_id)


def descending(page: Page) -> bool:
    """Say whether the page's order runs downwards."""
    return sort_name(page) is None or page.descending
