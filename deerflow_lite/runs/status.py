"""The one derivation of a thread's status; it reads no table."""

from deerflow_lite.threads.model import Status


def thread_status(*, busy: bool, failed: bool, settled: bool) -> Status:
    """Give busy while a run is pending or running, then error, interrupted where work is scheduled, else idle.

    `failed`: the last run that continues the head failed and nothing moved the head since.
    """
    if busy:
        return "busy"
    if failed:
        return "error"
    return "idle" if settled else "interrupted"
