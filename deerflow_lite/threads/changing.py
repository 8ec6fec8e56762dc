"""What a new thread is and what a change makes of one: pure functions, the same for every store.

Invariants: times never go backwards; a title set by hand is never replaced by an automatic one; the merged
metadata is within its limits or nothing is written.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from deerflow_lite.threads import limits, titles
from deerflow_lite.threads.flags import archived, checked_flags, pinned, touching
from deerflow_lite.threads.model import ABSENT, Change, NewThread, Thread, Ttl

BRANCH_KEYS: Final = frozenset(
    {
        "deerflow_branch",
        "branch_parent_thread_id",
        "branch_parent_checkpoint_id",
        "branch_parent_message_id",
        "branch_created_at",
    }
)
_QUIET: Final = frozenset({"metadata", "defaults", "touch"})


def client_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a client may set: branch keys dropped, flags proven to be booleans (else Invalid)."""
    checked_flags(metadata)
    return {key: value for key, value in metadata.items() if key not in BRANCH_KEYS}


def opened(row: int, owner: str, new: NewThread, now: str) -> Thread:
    """Give the thread that a store adds; raises Invalid or TooLarge."""
    title = titles.clean_title(new.title) if new.title is not None and new.title_manual else new.title
    return Thread(
        row=row,
        thread_id=limits.creatable_id(new.thread_id),
        owner=owner,
        created_at=now,
        updated_at=now,
        state_updated_at=now,
        metadata=limits.metadata_text(new.metadata),
        status="idle",
        title=titles.tidy_title(title),
        title_manual=new.title_manual and title is not None,
        head=new.head,
        root=new.root,
        interrupts="{}",
        error=None,
        **_ttl(new.ttl),
    )


def applied(old: Thread, change: Change, now: str) -> Thread:
    """Give the thread as it is after the change; raises Invalid or TooLarge."""
    title, manual = _title(old, change)
    new = _replaced(old, change, now, title, manual)
    if change.ttl is not ABSENT:
        new = dataclasses.replace(new, **_ttl(change.ttl))
    released = (archived(old) and not archived(new)) or (pinned(old) and not pinned(new))
    return dataclasses.replace(new, ttl_from=now) if released else new


def _ttl(ttl: Ttl | None) -> dict[str, Any]:
    minutes, strategy = (None, None) if ttl is None else (ttl.minutes, ttl.strategy)
    return {"ttl_minutes": minutes, "ttl_strategy": strategy}


def _replaced(old: Thread, change: Change, now: str, title: str | None, manual: bool) -> Thread:
    head = old.head if change.head is ABSENT else change.head
    return dataclasses.replace(
        old,
        updated_at=max(old.updated_at, now) if _touches(change) else old.updated_at,
        state_updated_at=old.state_updated_at if head == old.head else max(old.state_updated_at, now),
        metadata=_metadata(old.metadata, change),
        status=old.status if change.status is ABSENT else change.status,
        title=title,
        title_manual=manual,
        head=head,
        interrupts=old.interrupts if change.interrupts is ABSENT else change.interrupts,
        error=old.error if change.error is ABSENT else change.error,
    )


def merge_meta(metadata: str, patch: str) -> str:
    """Merge one JSON object into another as dict.update does: top-level keys only, null is stored, order is kept."""
    return limits.write_json({**json.loads(metadata), **json.loads(patch)})


def _touches(change: Change) -> bool:
    """A patch of nothing but the flags and no more time to live is no activity; whatever else is given with it is."""
    if not change.touch or change.metadata is ABSENT:
        return change.touch
    quiet = _QUIET if change.ttl is not None else _QUIET | {"ttl"}
    fields = (field.name for field in dataclasses.fields(change) if field.name not in quiet)
    return touching(change.metadata) or any(getattr(change, name) is not ABSENT for name in fields)


def _metadata(old: str, change: Change) -> str:
    patch = {} if change.metadata is ABSENT else change.metadata
    checked_flags(patch)
    defaults = {} if change.defaults is ABSENT else change.defaults
    if not patch and not defaults:
        return old
    before = limits.read_metadata(old)
    after = {**before, **patch}
    missing = {key: value for key, value in defaults.items() if key not in after}
    return limits.metadata_text({**after, **missing}) if patch or missing else old


def _title(old: Thread, change: Change) -> tuple[str | None, bool]:
    if isinstance(change.title, str):
        return titles.clean_title(change.title), True
    manual = old.title_manual and change.title is ABSENT
    if manual or change.auto_title is ABSENT:
        return (old.title if change.title is ABSENT else None), manual
    return titles.tidy_title(change.auto_title), False
