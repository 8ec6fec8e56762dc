"""The messages of a stored checkpoint, read without building any object or importing LangChain; it walks no lineage.

A message is stored as (code, bytes) of a class and its fields: the fields are what an API answers anyway. A crafted row
runs no code, and a class that is gone does not matter.
"""

import sqlite3
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import ormsgpack

from deerflow_lite.checkpoints import modes
from deerflow_lite.errors import CheckpointUnreadable, ParentMissing

CHANNEL: Final = "messages"
USER_SUFFIX: Final = "__user"
SNAPSHOT: Final = 7
_MODELS: Final = (4, 5)
_ROLES: Final = {"user": "human", "assistant": "ai"}
_FIELDS: Final = 2


class Outline(NamedTuple):
    """What decides about a message, and itself undecoded; a tuple, because one is made of every message passed."""

    id: str | None
    type: str
    hidden: bool
    entry: Any


@dataclass(frozen=True, slots=True)
class Message:
    """One stored message; `data` are its fields as JSON has them."""

    id: str | None
    type: str
    hidden: bool
    data: dict[str, Any]


def visible(message: Outline | Message) -> bool:
    """Say whether people see the message."""
    return message.type in ("human", "ai") and not message.hidden


def user(message: Outline | Message) -> bool:
    """Say whether the message is a user's own, seen by people."""
    return message.type == "human" and not message.hidden


def prompt(message_id: str) -> str:
    """Give the id under which a prompt was sent: a middleware may have moved it to `<id>__user` inside the run."""
    return message_id.removesuffix(USER_SUFFIX)


def messages_at(connection: sqlite3.Connection, thread_id: str, checkpoint_id: str) -> list[Message]:
    """Give the messages that a checkpoint of the root namespace holds, hidden ones included.

    Raises ParentMissing for a checkpoint that is not stored, and what `lineage.ancestors` raises for a delta one.
    """
    from deerflow_lite.checkpoints import fold

    found = modes.row(connection, thread_id, checkpoint_id)
    if found is None:
        raise ParentMissing(checkpoint_id)
    return [message_of(entry, checkpoint_id) for entry in fold.held_at(connection, thread_id, found).entries]


def texts(content: Any) -> list[str]:
    """Give the texts of a message's content: its own, or those of its blocks."""
    parts = content if isinstance(content, list) else [content]
    found = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return [text for text in found if isinstance(text, str) and text]


def entries(value: Any, checkpoint_id: str) -> list[Any]:
    """Give the undecoded messages of a stored value of the channel: a list, a snapshot of one, or a single message."""
    if isinstance(value, tuple) and value[0] == SNAPSHOT:
        value = unpacked(value[1], checkpoint_id)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def message_of(entry: Any, checkpoint_id: str) -> Message:
    """Decode one message; raises CheckpointUnreadable."""
    found, fields = outline_of(entry, checkpoint_id), _fields(entry, checkpoint_id)
    try:
        data = plain(fields, checkpoint_id) if isinstance(fields, dict) else {"type": "", "content": str(fields)}
    except RecursionError:
        raise CheckpointUnreadable(checkpoint_id) from None
    return Message(found.id, found.type, found.hidden, data)


def outline_of(entry: Any, checkpoint_id: str) -> Outline:
    """Decode what decides about a message; raises CheckpointUnreadable."""
    fields = _fields(entry, checkpoint_id)
    if not isinstance(fields, dict):
        return Outline(None, "", False, entry)
    kind, extra, message_id = fields.get("type"), fields.get("additional_kwargs"), fields.get("id")
    if not isinstance(kind, str):
        role = fields.get("role")
        kind = _ROLES.get(role, role) if isinstance(role, str) else ""
    hidden = bool(extra) and isinstance(extra, dict) and extra.get("hide_from_ui") is True
    return Outline(message_id if isinstance(message_id, str) else None, kind, hidden, entry)


def id_of(entry: Any, checkpoint_id: str) -> str | None:
    """Give the id of an undecoded message, None where it has none."""
    return outline_of(entry, checkpoint_id).id


def _fields(entry: Any, checkpoint_id: str) -> Any:
    """Give the fields of a stored model; anything else is given back as it is."""
    if not isinstance(entry, tuple) or entry[0] not in _MODELS:
        return entry
    parts = unpacked(entry[1], checkpoint_id)
    if not isinstance(parts, list) or len(parts) <= _FIELDS or not isinstance(parts[_FIELDS], dict):
        raise CheckpointUnreadable(checkpoint_id)
    return parts[_FIELDS]


def plain(value: Any, checkpoint_id: str) -> Any:
    """Give a value with every stored object as what it was made of; nothing is built."""
    if isinstance(value, tuple):
        parts = unpacked(value[1], checkpoint_id)
        made_of = isinstance(parts, list) and len(parts) > _FIELDS and value[0] < SNAPSHOT - 1
        return plain(parts[_FIELDS] if made_of else parts, checkpoint_id)
    if isinstance(value, list):
        return [plain(one, checkpoint_id) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one, checkpoint_id) for key, one in value.items()}
    return value


def unpacked(data: bytes, checkpoint_id: str) -> Any:
    """Unpack containers, objects left as (code, bytes); raises CheckpointUnreadable."""
    try:
        return ormsgpack.unpackb(data, ext_hook=_left, option=ormsgpack.OPT_NON_STR_KEYS)
    except (ValueError, TypeError):
        raise CheckpointUnreadable(checkpoint_id) from None


def _left(code: int, data: bytes) -> tuple[int, bytes]:
    return code, data
