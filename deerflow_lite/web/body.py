"""The bodies of requests: wholly read before any answer, then parsed as strict JSON; it knows no schema.

Invariants: a connection is never answered with part of its body unread (the server would cut it); a body means the
same whatever its Content-Type says; nothing that JSON leaves open (duplicate keys, NaN, big integers) gets in.
"""

import io
import json
import re
from collections.abc import Callable, Iterable
from typing import IO, Any

import orjson

from deerflow_lite.errors import Invalid, TooLarge

PIECE = 65_536
DRAIN = 67_108_864
DEPTH = 200
INTEGER_DIGITS = 19
REFUSED = "deerflow_lite.body_refused"
_LONG_INTEGER = re.compile(rb"\d{%d}" % INTEGER_DIGITS)


class WholeBody:
    """WSGI middleware: hand on each request with its body in memory.

    A body that is too large or ends early is replaced by an empty one; `json_object` then raises for it.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]], limit: int) -> None:
        self.application = application
        self.limit = limit

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            body = _read(environ, self.limit)
        except Invalid as refused:
            environ[REFUSED] = refused
            body = b""
        environ["wsgi.input"] = io.BytesIO(body)
        environ["wsgi.input_terminated"] = True
        environ["CONTENT_LENGTH"] = str(len(body))
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        return self.application(environ, start_response)


def _read(environ: dict[str, Any], limit: int) -> bytes:
    stream: IO[bytes] = environ["wsgi.input"]
    expected = _content_length(environ)
    if expected is None and "HTTP_TRANSFER_ENCODING" not in environ:
        return b""
    if expected is not None and expected > limit:
        _drain(stream, min(expected, DRAIN))
        raise _too_large(limit)
    body = _take(stream, limit + 1 if expected is None else expected)
    if len(body) > limit:
        _drain(stream, DRAIN)
        raise _too_large(limit)
    if expected is not None and len(body) < expected:
        raise Invalid({"body": ["ended before its Content-Length"]})
    return body


def _content_length(environ: dict[str, Any]) -> int | None:
    text = environ.get("CONTENT_LENGTH") or ""
    return int(text) if text.isascii() and text.isdigit() else None


def _take(stream: IO[bytes], size: int) -> bytes:
    pieces, left = [], size
    while left and (piece := stream.read(min(left, PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _drain(stream: IO[bytes], size: int) -> None:
    while size > 0 and (piece := stream.read(PIECE)):
        size -= len(piece)


def _too_large(limit: int) -> TooLarge:
    return TooLarge({"body": [f"is larger than {limit} bytes (setting MAX_BODY)"]})


def json_object(raw: bytes) -> dict[str, Any]:
    """Parse a request body; an empty one is `{}`.

    Raises Invalid for what is not one JSON object, and for what JSON readers disagree about.
    """
    value: dict[str, Any] = _container(raw, dict, "object") if raw.strip() else {}
    return value


def json_list(raw: bytes) -> list[Any]:
    """Parse a request body that is a list; raises Invalid as `json_object` does."""
    value: list[Any] = _container(raw, list, "array")
    return value


def json_value(raw: bytes) -> Any:
    """Parse a request body that was accepted before."""
    return orjson.loads(raw) if raw.strip() else {}


def _container(raw: bytes, kind: type[Any], name: str) -> Any:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Invalid({"body": [f"is not valid JSON: {error}"]}) from None
    if not isinstance(value, kind):
        raise Invalid({"body": [f"must be a JSON {name}"]})
    if raw.count(b"{") + raw.count(b"[") > DEPTH:
        _check_depth(value)
    whole = _whole if _LONG_INTEGER.search(raw) else None
    return json.loads(raw, object_pairs_hook=_unique, parse_int=whole)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH):
        level = [part for node in level for part in _parts(node) if isinstance(part, (dict, list))]
        if not level:
            return
    raise Invalid({"body": [f"is nested deeper than {DEPTH}"]})


def _parts(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise Invalid({"body": [f"has the key {json.dumps(name)} twice in one object"]})
        seen.add(name)
    return made


def _whole(text: str) -> int:
    if len(text) > INTEGER_DIGITS + 1 or not -(2**63) <= int(text) < 2**63:
        raise Invalid({"body": [f"holds an integer beyond signed 64 bit ({text[:24]})"]})
    return int(text)
