"""What a thread's id and metadata may be; it stores nothing and knows no HTTP.

Invariants: nothing is altered silently, what is over a limit is refused by name; no input makes it recurse.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from deerflow_lite.errors import Invalid, TooLarge

ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
RESERVED: Final = frozenset({"new", "archived", "search", "count", "prune", "archive"})
METADATA_BYTES: Final = 64 * 1024
METADATA_DEPTH: Final = 32
TOO_LARGE: Final = f"must be at most {METADATA_BYTES} bytes of JSON"
TOO_DEEP: Final = f"must be nested at most {METADATA_DEPTH} deep"
INTEGER_LOW: Final = -(2**63)
INTEGER_HIGH: Final = 2**63 - 1
_SUSPECT: Final = re.compile(r"\d{19}|\\u0000")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def valid_id(thread_id: str) -> bool:
    """Say whether the text is an id that a thread can have."""
    return ID.fullmatch(thread_id) is not None


def creatable_id(thread_id: str) -> str:
    """Give the id back; raises Invalid for one that no new thread may have."""
    if not valid_id(thread_id):
        raise Invalid({"thread_id": ["must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -"]})
    if thread_id in RESERVED:
        raise Invalid({"thread_id": [f"{thread_id} is a reserved word"]})
    return thread_id


def metadata_text(metadata: Mapping[str, Any]) -> str:
    """Write whole metadata as the JSON text that is stored.

    Raises TooLarge over 64 KiB, Invalid for what JSON, SQLite or a reader could not keep exactly.
    """
    try:
        text = write_json(metadata)
        if len(text.encode()) <= METADATA_BYTES and not _SUSPECT.search(text) and _shallow(text):
            return text
    except (RecursionError, TypeError, ValueError):
        text = ""
    _walk(metadata)
    if not text or len(text.encode()) > METADATA_BYTES:
        raise TooLarge({"metadata": [TOO_LARGE]})
    return text


def _shallow(text: str) -> bool:
    """Say whether the text cannot be nested too deep; where it might, every value is looked at."""
    return text.count("{") + text.count("[") <= METADATA_DEPTH


def write_json(value: Any) -> str:
    """Write compact JSON with its characters as they are; raises ValueError for NaN and infinities."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read_metadata(text: str) -> dict[str, Any]:
    """Read stored metadata; raises Invalid where another program wrote what cannot be read exactly."""
    try:
        metadata: dict[str, Any] = json.loads(text)
    except (RecursionError, ValueError):
        raise Invalid({"metadata": ["holds stored JSON that is nested too deep or has too long a number"]}) from None
    return metadata


def text_fault(text: str) -> str | None:
    """Say why a text cannot be stored exactly, None where it can."""
    if "\0" in text:
        return "must not hold a NUL character"
    return "must not hold a lone surrogate" if _SURROGATE.search(text) else None


def number_fault(number: int | float) -> str | None:
    """Say why a number cannot be stored exactly, None where it can."""
    if isinstance(number, float):
        return None if math.isfinite(number) else "must be a finite number"
    return None if INTEGER_LOW <= number <= INTEGER_HIGH else "must be an integer within signed 64 bit"


def shown(key: str) -> str:
    """Give a key as short plain ASCII that any error text can hold."""
    return json.dumps(key if len(key) <= 80 else key[:77] + "...")


def _walk(metadata: Mapping[str, Any]) -> None:
    """Visit every value from a list of our own; stops once the text must be over the size limit."""
    waiting: list[tuple[Any, int, str | None]] = [(metadata, 1, None)]
    spent = 0
    while waiting:
        value, depth, under = waiting.pop()
        spent += len(value) if isinstance(value, (str, dict, list)) else 1
        if spent > METADATA_BYTES:
            raise TooLarge({"metadata": [TOO_LARGE]})
        if isinstance(value, dict):
            waiting += [(item, depth + 1, _key(key, under)) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(item, depth + 1, under) for item in value]
        fault = _fault(value, depth)
        if fault is not None:
            raise Invalid({"metadata": [fault if under is None else f"{shown(under)} {fault}"]})


def _key(key: Any, under: str | None) -> str:
    fault = text_fault(key) if isinstance(key, str) else "must be text"
    if fault is not None:
        raise Invalid({"metadata": [f"the key {shown(str(key))} {fault}"]})
    return str(key) if under is None else under


def _fault(value: Any, depth: int) -> str | None:
    if isinstance(value, str):
        return text_fault(value)
    if isinstance(value, (dict, list)):
        return None if depth <= METADATA_DEPTH else TOO_DEEP
    if isinstance(value, (int, float)):
        return number_fault(value)
    return None if value is None else "must be a JSON value"
