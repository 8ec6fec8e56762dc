"""Values of a graph as the JSON that LangGraph's clients know; it never refuses a value.

Messages and other Pydantic models are their fields, dataclasses theirs; what JSON has no form for is its text.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import orjson

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS


def to_json(value: Any, *, many: bool = False) -> bytes:
    """Give a value as JSON; NaN and infinities are null, as LangGraph's server answers them.

    `many`: objects stand in it at many places, and each is written once.
    """
    try:
        return orjson.dumps(value, default=_shared() if many else _plain, option=_OPTIONS)
    except (TypeError, orjson.JSONEncodeError):
        return orjson.dumps(_safe(value, 200), default=str, option=_OPTIONS)


def _shared() -> Callable[[Any], Any]:
    """Do as `_plain` does; the JSON of a model is kept, with the model so that no other gets its identity."""
    written: dict[int, tuple[Any, orjson.Fragment]] = {}

    def plain(value: Any) -> Any:
        if not hasattr(value, "model_dump") or isinstance(value, type):
            return _plain(value)
        if id(value) not in written:
            text = orjson.dumps(_plain(value), default=plain, option=_OPTIONS)
            written[id(value)] = (value, orjson.Fragment(text))
        return written[id(value)][1]

    return plain


def _plain(value: Any) -> Any:
    """Give the next simpler form of a value that JSON has no form for."""
    dump: Callable[[], Any] | None = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump()
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, list | tuple | set | frozenset):
        return _tuple_fields(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, BaseException):
        return repr(value)
    return str(value)


def _tuple_fields(value: Any) -> Any:
    fields = getattr(value, "_asdict", None)
    return fields() if fields is not None else list(value)


def _safe(value: Any, depth: int) -> Any:
    """Rebuild a value whose texts, integers or nesting JSON cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bool | None | float):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**64 else str(int(value))
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        return {_safe(str(key), 1): _safe(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_safe(item, depth - 1) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _safe(getattr(value, field.name), depth - 1) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return _safe(value.model_dump(), depth - 1)
    try:
        return orjson.loads(orjson.dumps(value, default=str))
    except (TypeError, orjson.JSONEncodeError):
        return _safe(_plain(value), depth - 1)
