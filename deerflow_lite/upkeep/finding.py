"""One thing that is wrong in the file, and what to do about it."""

from dataclasses import dataclass
from typing import Final

_BROKEN: Final = "what comes after it cannot be replayed or branched; a backup of the file may hold it whole"
_REPAIR: Final = "`deerflow-lite doctor --repair` shows what would be done"
ADVICE: Final = {
    "dangling": f"its parent is not stored: {_BROKEN}",
    "foreign": f"its parent stands in another thread or namespace: {_BROKEN}",
    "cycle": f"its parents lead back to itself: {_BROKEN}",
    "unreadable": f"its row cannot be decoded: {_BROKEN}",
    "head": "the thread stands on a checkpoint that is not stored: select another with PUT /threads/{thread_id}/head",
    "orphan": "its checkpoints belong to no thread: `deerflow-lite doctor --adopt` shows what would be adopted",
    "busy": f"it says it is busy and no run is in flight: {_REPAIR}",
    "runs": f"it is gone and its runs are not: {_REPAIR}",
    "events": f"it is gone and its events are not: {_REPAIR}",
    "writes": f"it is not stored and its writes are: {_REPAIR}",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong; `reason` is a key of ADVICE. `checkpoint_id` is None where it is of the whole thread."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None
    reason: str

    @property
    def advice(self) -> str:
        """Say in one sentence what it means and what to do."""
        return ADVICE[self.reason]
