"""The two flags a person sets on a thread, archived and pinned; nobody else knows what either means.

Invariants: only JSON true counts, every other value is "not set"; a write of the flags alone moves no time.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from deerflow_lite.errors import Invalid
from deerflow_lite.threads.filters import Clause
from deerflow_lite.threads.model import HeadValues, Thread

ARCHIVED: Final = "deerflow_archived"
PINNED: Final = "deerflow_pinned"
FLAGS: Final = (ARCHIVED, PINNED)


def column_sql(flag: str) -> str:
    """Give the SQL of a generated column that is 1 where the flag is set, else 0; for the schema alone."""
    return f"""json_type(metadata, '$."{flag}"') IS 'true'"""


def archived(thread: Thread) -> bool:
    """Say whether the thread is archived."""
    return _set(thread.metadata, ARCHIVED)


def pinned(thread: Thread) -> bool:
    """Say whether the thread is pinned."""
    return _set(thread.metadata, PINNED)


def archiving(flag: bool) -> dict[str, Any]:
    """Give the metadata patch that archives or restores."""
    return {ARCHIVED: flag}


def touching(patch: Iterable[str]) -> bool:
    """Say whether a metadata patch moves `updated_at`: one of the two flags alone, or an empty one, does not."""
    return any(key not in FLAGS for key in patch)


def checked_flags(metadata: Mapping[str, Any]) -> None:
    """Raise Invalid naming every archive or pin flag that is no JSON boolean."""
    wrong = [flag for flag in FLAGS if not isinstance(metadata.get(flag, False), bool)]
    if wrong:
        raise Invalid({"metadata": [f"{flag} must be true or false" for flag in wrong]})


def archived_clause(flag: bool) -> "ArchivedIs":
    """Give the filter for archived threads (true) or for all others (false)."""
    return ArchivedIs(flag)


@dataclass(frozen=True, slots=True)
class ArchivedIs(Clause):
    """Archived threads, or all others."""

    flag: bool

    def sql(self) -> tuple[str, tuple[Any, ...]]:
        return "threads.archived = ?", (int(self.flag),)

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        return archived(thread) is self.flag


def _set(metadata: str, flag: str) -> bool:
    return f'"{flag}"' in metadata and json.loads(metadata).get(flag) is True
