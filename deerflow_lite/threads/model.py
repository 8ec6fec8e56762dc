"""The records of the thread room; it stores nothing and knows no JSON body of HTTP.

Times are the texts of `clock.now()`, JSON stays text: what is listed is spliced into answers without being parsed.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

Status = Literal["idle", "busy", "interrupted", "error"]
STATUSES: Final = ("idle", "busy", "interrupted", "error")


Strategy = Literal["delete", "keep_latest"]


class Absent(Enum):
    """The one value that says: this was not given."""

    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Thread:
    """One stored thread. `row` is never reused, not even when the id is; `metadata`, `interrupts`, `error` are JSON.

    `ttl_from` is when it was last restored or unpinned: its time to live counts from there, or from `updated_at`.
    """

    row: int
    thread_id: str
    owner: str
    created_at: str
    updated_at: str
    state_updated_at: str
    metadata: str
    status: Status
    title: str | None
    title_manual: bool
    head: str | None
    root: str | None
    interrupts: str
    error: str | None
    ttl_minutes: float | None = None
    ttl_strategy: Strategy | None = None
    ttl_from: str | None = None


@dataclass(frozen=True, slots=True)
class Ttl:
    """How long a thread is left alone before it is deleted, or cut down to its latest checkpoint."""

    minutes: float
    strategy: Strategy


@dataclass(frozen=True, slots=True)
class NewThread:
    """What a thread is made of; `root` is the id of the checkpoint written in the same transaction."""

    thread_id: str
    metadata: dict[str, Any]
    title: str | None = None
    title_manual: bool = False
    root: str | None = None
    head: str | None = None
    ttl: Ttl | None = None


@dataclass(frozen=True, slots=True)
class HeadValues:
    """The values of one head as JSON text.

    `body` is a JSON object without its `title`; `titled`: the graph has a plain string channel of that name, whose
    own value is `own_title`. `settled`: nothing is scheduled. `mode` is `full` or `delta`.
    """

    checkpoint_id: str
    body: str
    titled: bool
    own_title: str | None
    settled: bool
    mode: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Change:
    """What one write does to a thread; fields left ABSENT stay as they are.

    `metadata` is merged shallowly, null is stored. `title` is the title set by hand, None gives it back to the service
    (then `auto_title` applies at once). `auto_title` is taken only while no title was set by hand. A `ttl` of None
    takes it away and is no activity. `touch` moves `updated_at`; a `head` moves `state_updated_at`.
    """

    metadata: dict[str, Any] | Absent = ABSENT
    defaults: dict[str, Any] | Absent = ABSENT
    title: str | None | Absent = ABSENT
    auto_title: str | None | Absent = ABSENT
    status: Status | Absent = ABSENT
    head: str | None | Absent = ABSENT
    values: HeadValues | Absent = ABSENT
    interrupts: str | Absent = ABSENT
    error: str | None | Absent = ABSENT
    ttl: Ttl | None | Absent = ABSENT
    touch: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """Which rows of the ordered matches are asked for; `cursor` is a decoded place in the default order."""

    limit: int = 100
    offset: int = 0
    cursor: tuple[int, str, str] | None = None
    sort_by: str | None = None
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """One page of matches; `total` is exact unless `capped`; `cursor` is the last row's place, None at the end."""

    threads: list[Thread]
    total: int
    capped: bool
    more: bool
    cursor: tuple[int, str, str] | None


@dataclass(frozen=True, slots=True)
class Archived:
    """What a bulk archive did or, in a dry run, would do."""

    matched: int
    changed: int
    thread_ids: list[str]
