"""A serializer that refuses what its allow-list does not name; LangGraph's own hands the raw data on instead.

A value of a blocked type would reach a node as a dict: the run fails here, naming the type.
"""

import copy
import threading
from collections.abc import Iterable
from typing import Any, Self

import ormsgpack
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import EXT_DELTA_SNAPSHOT, JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot

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

    def remembering(self) -> Self:
        """Give one that builds a message only once: for a single read of many states, which nobody changes.

        A message without an id is built anew each time, for a reducer gives it one.
        """
        built: dict[bytes, BaseMessage] = {}
        build = self._unpack_ext_hook

        def hook(code: int, data: bytes) -> Any:
            if (known := built.get(data)) is not None:
                return known
            if code == EXT_DELTA_SNAPSHOT:
                return _DeltaSnapshot(ormsgpack.unpackb(data, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS))
            made = build(code, data)
            if isinstance(made, BaseMessage) and made.id is not None:
                built[data] = made
            return made

        clone = copy.copy(self)
        clone._unpack_ext_hook = hook
        return clone

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Decode a value; raises TypeBlocked."""
        _heard.blocked = None
        value = super().loads_typed(data)
        if _heard.blocked is not None:
            raise TypeBlocked(_heard.blocked)
        return value
