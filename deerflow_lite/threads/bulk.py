"""Archiving and restoring many threads at once, as SQL; what archived means is `flags`' business.

Invariants: an id that is not the owner's stops everything; only rows whose flag differs are written.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import orjson

from deerflow_lite import clock
from deerflow_lite.errors import ThreadUnknown
from deerflow_lite.threads import flags, limits
from deerflow_lite.threads.model import Archived

_CHOSEN: Final = "SELECT json_group_array(json_array(id, thread_id, archived, bytes)) FROM ({})"
_COLUMNS: Final = "threads.id, threads.thread_id, threads.archived, length(CAST(threads.metadata AS BLOB)) AS bytes"
_BY_ID: Final = f"SELECT {_COLUMNS} FROM json_each(?) j CROSS JOIN threads ON threads.thread_id = j.value"
_BY_AGE: Final = f"SELECT {_COLUMNS} FROM threads WHERE threads.updated_at < ?"
_OLDEST_FIRST: Final = "ORDER BY threads.updated_at, threads.thread_id"
_FLAG_BYTES: Final = 64


def chosen_by_id(connection: sqlite3.Connection, owner: str | None, thread_ids: Sequence[str]) -> list[Any]:
    """Give the rows of these ids in the order given, each once; raises ThreadUnknown for the first that is none."""
    wanted = list(dict.fromkeys(thread_ids))
    mine, params = ("", ()) if owner is None else ("WHERE threads.owner = ?", (owner,))
    statement = _CHOSEN.format(f"{_BY_ID} {mine}")
    found = {row[1]: row for row in _json(connection, statement, orjson.dumps(wanted).decode(), *params)}
    for thread_id in wanted:
        if thread_id not in found:
            raise ThreadUnknown(thread_id)
    return [found[thread_id] for thread_id in wanted]


def chosen_by_age(connection: sqlite3.Connection, owner: str | None, older_than: str) -> list[Any]:
    """Give the rows that were updated before this time, oldest first."""
    mine, params = ("", ()) if owner is None else ("AND threads.owner = ?", (owner,))
    return list(_json(connection, _CHOSEN.format(f"{_BY_AGE} {mine} {_OLDEST_FIRST}"), older_than, *params))


def differing(rows: Sequence[Any], archived: bool) -> list[Any]:
    """Give the rows whose flag is not the wanted one."""
    return [row for row in rows if bool(row[2]) is not archived]


def archive(connection: sqlite3.Connection, rows: Sequence[Any], archived: bool) -> None:
    """Set the flag of these rows; raises TooLarge or Invalid when it does not fit into one's metadata."""
    patch = flags.archiving(archived)
    for row, _, _, size in rows:
        if size > limits.METADATA_BYTES - _FLAG_BYTES:
            (text,) = connection.execute("SELECT metadata FROM threads WHERE id = ?", (row,)).fetchone()
            limits.metadata_text({**limits.read_metadata(text), **patch})
    connection.execute(
        "UPDATE threads SET metadata = merge_meta(metadata, ?), ttl_from = coalesce(?, ttl_from)"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (limits.write_json(patch), None if archived else clock.now(), orjson.dumps([row[0] for row in rows]).decode()),
    )


def answer(rows: Sequence[Any], changed: Sequence[Any]) -> Archived:
    """Say what was matched and what was, or would be, changed."""
    return Archived(len(rows), len(changed), [row[1] for row in changed])


def _json(connection: sqlite3.Connection, statement: str, *params: Any) -> Any:
    return orjson.loads(connection.execute(statement, params).fetchone()[0])
