"""What a compiled graph's channels tell: how messages are stored, which values are plain, which types they hold.

It reads the graph only and imports langgraph inside its functions.
"""

import sys
import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typing_extensions

if TYPE_CHECKING:
    from deerflow_lite.graphs.factories import Graph

_WRAPPERS = (Annotated, typing.Required, typing.NotRequired, typing_extensions.Required, typing_extensions.NotRequired)


def mode(graph: "Graph") -> Literal["full", "delta"]:
    """Tell how the graph stores its state: `delta` when any channel stores only what was written."""
    from langgraph.channels.delta import DeltaChannel

    return "delta" if any(isinstance(channel, DeltaChannel) for channel in graph.channels.values()) else "full"


def channel_names(graph: "Graph") -> frozenset[str]:
    """Give the names of all channels, those too that LangGraph schedules work by."""
    return frozenset(graph.channels)


def titled(graph: "Graph") -> bool:
    """Tell whether the graph has a plain (reducer-less) string channel `title`."""
    from langgraph.channels.last_value import LastValue

    channel = graph.channels.get("title")
    if type(channel) is not LastValue:
        return False
    kind = _bare(channel.ValueType)
    return kind is str or {_bare(part) for part in get_args(kind)} == {str, type(None)}


def message_types(graph: "Graph") -> list[tuple[str, str]]:
    """List (module, class) of every class that the state of the graph or of a subgraph may hold, sorted.

    The shape is that of JsonPlusSerializer's `allowed_msgpack_modules`.
    """
    # By identity, because a hint need not be hashable; the values keep the hints alive, so no id is used twice.
    seen: dict[int, Any] = {}
    found: set[tuple[str, str]] = set()
    graphs = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]
    waiting = [kind for one in graphs for kind in _declared(one)]
    while waiting:
        kind = _bare(waiting.pop())
        if id(kind) in seen:
            continue
        seen[id(kind)] = kind
        if _storable(kind):
            found.add((kind.__module__, kind.__name__))
        waiting.extend(_parts(kind))
    return sorted(found)


def _declared(graph: Any) -> Iterator[Any]:
    """Channels with a reducer know only `list`; the schemas they were declared in know of what."""
    from langgraph.channels.base import BaseChannel

    for channel in getattr(graph, "channels", {}).values():
        if isinstance(channel, BaseChannel):
            yield from (channel.ValueType, channel.UpdateType)
    builder = getattr(graph, "builder", None)
    if builder is not None:
        yield from builder.schemas
        yield from (node.input_schema for node in builder.nodes.values())


def _bare(kind: Any) -> Any:
    while get_origin(kind) in _WRAPPERS:
        kind = get_args(kind)[0]
    return kind


def _storable(kind: Any) -> bool:
    if not isinstance(kind, type) or kind.__module__ == "builtins" or typing_extensions.is_typeddict(kind):
        return False
    named_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return is_dataclass(kind) or hasattr(kind, "model_dump") or issubclass(kind, Enum) or named_tuple


def _parts(kind: Any) -> Iterator[Any]:
    yield from get_args(kind)
    for name in ("__supertype__", "__bound__", "__value__"):
        part = getattr(kind, name, None)
        if part is not None and not isinstance(kind, type):
            yield part
    if isinstance(kind, type):
        yield from _hints(kind).values()


def _hints(kind: type[Any]) -> dict[str, Any]:
    if not (_storable(kind) or typing_extensions.is_typeddict(kind)):
        return {}
    if hasattr(kind, "model_fields"):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    space = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
    try:
        return typing_extensions.get_type_hints(kind, globalns=space, localns=dict(vars(kind)), include_extras=True)
    except (NameError, TypeError):
        # A name known only to type checkers: what it stands for cannot be allowed, a setting names it then.
        return {}
