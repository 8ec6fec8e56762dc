"""The thread of a run that has none: the record that rules about threads are asked with; it is never stored."""

from uuid import UUID

from deerflow_lite.runs.model import Run
from deerflow_lite.threads.model import Thread
from deerflow_lite.threads.store import ThreadStore


def passing_thread(owner: str, thread_id: str, at: str, row: int | None = None) -> Thread:
    """Give the empty thread of a stateless run; its row number is negative, so that no stored thread has it."""
    number = row or -1 - (UUID(thread_id).int & (2**62 - 1))
    return Thread(number, thread_id, owner, at, at, at, "{}", "busy", None, False, None, None, "{}", None)


def thread_of(threads: ThreadStore, run: Run) -> Thread | None:
    """Give the thread of a run, None when it is gone."""
    if run.stateless:
        return passing_thread(run.owner, run.thread_id, run.created_at, run.thread_row)
    return threads.by_row(run.thread_row)
