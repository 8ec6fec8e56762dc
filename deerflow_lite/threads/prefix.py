"""The filter by the beginning of an id, for people who type; no route offers it."""

from dataclasses import dataclass

from deerflow_lite.threads.filters import Clause, Params
from deerflow_lite.threads.model import HeadValues, Thread

AFTER_EVERY_ID_CHARACTER = "\x7f"


@dataclass(frozen=True, slots=True)
class IdBegins(Clause):
    """Threads whose id begins with this text, compared by character."""

    prefix: str

    def sql(self) -> tuple[str, Params]:
        return "threads.thread_id >= ? AND threads.thread_id < ?", (self.prefix, self.prefix + AFTER_EVERY_ID_CHARACTER)

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        return thread.thread_id.startswith(self.prefix)
