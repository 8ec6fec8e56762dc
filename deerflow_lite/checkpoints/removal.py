"""Root checkpoints taken out, with all that belongs to them in every namespace; whoever asks has chosen them.

A subgraph that keeps one chain over many runs may have kept rows that stand on removed ones: those in between stay, for
the kept ones would not be readable without them.
"""

import sqlite3
from collections.abc import Collection, Mapping

import orjson

from deerflow_lite.checkpoints import turn_ids

_Place = tuple[str, str]


def remove_below(connection: sqlite3.Connection, thread_id: str, root_ids: Collection[str]) -> None:
    """Delete root checkpoints and what their subgraphs stored, with every write on them."""
    _delete(connection, thread_id, root_ids, _inside(connection, thread_id, root_ids))


def drop(
    connection: sqlite3.Connection, thread_id: str, root_ids: Collection[str], parents: Mapping[str, str | None]
) -> None:
    """Delete root checkpoints that others descend from, and give those the parents named here.

    What a subgraph remembers from run to run stays: it belongs to the thread more than to the step that stored it.
    """
    inside = _inside(connection, thread_id, root_ids)
    _delete(connection, thread_id, root_ids, [place for place in inside if ":" in place[0].rpartition("|")[2]])
    connection.executemany(
        "UPDATE checkpoints SET parent_checkpoint_id = ?"
        " WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
        [(parent, thread_id, checkpoint_id) for checkpoint_id, parent in parents.items()],
    )


def _delete(
    connection: sqlite3.Connection, thread_id: str, root_ids: Collection[str], inside: Collection[_Place]
) -> None:
    places = [*(("", checkpoint_id) for checkpoint_id in root_ids), *inside]
    for table in ("checkpoints", "writes"):
        connection.executemany(
            f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            [(thread_id, *place) for place in places],
        )
    turn_ids.forget(connection, thread_id, root_ids)


def _inside(connection: sqlite3.Connection, thread_id: str, root_ids: Collection[str]) -> list[_Place]:
    rows = connection.execute(
        "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata FROM checkpoints"
        " WHERE thread_id = ? AND checkpoint_ns <> ''",
        (thread_id,),
    ).fetchall()
    gone: set[_Place] = set()
    parents: dict[_Place, _Place | None] = {}
    for namespace, checkpoint_id, parent, metadata in rows:
        parents[namespace, checkpoint_id] = (namespace, parent) if parent else None
        if _root_of(metadata) in root_ids:
            gone.add((namespace, checkpoint_id))
    for place in parents.keys() - gone:
        above = parents[place]
        while above is not None and above in gone:
            gone.discard(above)
            above = parents[above]
    return sorted(gone)


def _root_of(metadata: bytes | str | None) -> object:
    """Give the root checkpoint that a subgraph's checkpoint was stored under."""
    try:
        found = orjson.loads(metadata or b"{}")
    except orjson.JSONDecodeError:
        return None
    parents = found.get("parents") if isinstance(found, dict) else None
    return parents.get("") if isinstance(parents, dict) else None
