"""The rows of `thread_meta`: one for each top-level scalar of a thread's metadata, by which searches narrow.

It is not the truth, metadata is. Invariants: what is filed here is what the schema's triggers would file.
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

LONG: Final = "long"
LONG_TEXT: Final = 200
_PUT: Final = """INSERT INTO thread_meta (row, key, owner, type, value) VALUES (?, ?, ?, ?, json_extract(?, '$'))
    ON CONFLICT (row, key) DO UPDATE SET type = excluded.type, value = excluded.value"""
_DROP: Final = "DELETE FROM thread_meta WHERE row = ? AND key = ?"


def filed(value: str | int | float | bool | None) -> tuple[str, str]:
    """Give the type and the value, as JSON text, under which a scalar is filed; of long texts only the beginning."""
    if isinstance(value, str):
        kind = LONG if len(value) > LONG_TEXT else "text"
        return kind, json.dumps(value[:LONG_TEXT], ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return json.dumps(value), '""'
    return "number", json.dumps(value)


def put(connection: sqlite3.Connection, row: int, owner: str, patch: Mapping[str, Any]) -> None:
    """File what a merge changed."""
    for key, value in patch.items():
        if isinstance(value, (dict, list)):
            connection.execute(_DROP, (row, key))
        elif 0 < len(key) <= 64:
            connection.execute(_PUT, (row, key, owner, *filed(value)))
