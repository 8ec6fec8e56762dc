"""A serializer that refuses what its allow-list does not name; LangGraph's own hands the raw data on instead.

A value of a blocked type would reach a node as a dict: the run fails here, naming the type.
"""

import threading
from collections.abc import Iterable
from typing import Any

from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deerflow_lite.errors import TypeBlocked

_heard = threading.local()


def _hear(event: SerdeEvent) -> None:
    if event["kind"].endswith("_blocked"):
        _heard.blocked = f"{event['module']}.{event['name']}"


register_serde_event_listener(_hear)


class StrictSerializer(JsonPlusSerializer):
    """Reads the built-in safe types and those of `types`, (module, class) pairs."""

    def __init__(self, types: Iterable[tuple[str, ...]] = ()) -> None:
        super().__init__(allowed_msgpack_modules=list(types))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Decode a value; raises TypeBlocked."""
        _heard.blocked = None
        value = super().loads_typed(data)
        if _heard.blocked is not None:
            raise TypeBlocked(_heard.blocked)
        return value
