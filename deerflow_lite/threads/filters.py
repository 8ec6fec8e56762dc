"""What a search may ask of a thread: each clause is described once and read as SQL and as a predicate.

It orders and cuts nothing. Invariants: values and JSON paths are bound, never formatted into SQL; both readings
agree on every input; a filter that cannot be answered exactly is refused, never widened.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from deerflow_lite.errors import Invalid
from deerflow_lite.threads import limits, titles
from deerflow_lite.threads.model import HeadValues, Status, Thread

Scalar = str | int | float | bool | None
Params = tuple[Any, ...]
JsonType = Literal["null", "true", "false", "number", "text"]
MISSING: Final = object()


class Clause(ABC):
    """One condition; its SQL speaks of the table `threads`."""

    __slots__ = ()

    @abstractmethod
    def sql(self) -> tuple[str, Params]:
        """Give the condition as SQL text and what it binds."""

    @abstractmethod
    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        """Say whether the thread, with the stored values of its head, meets the condition."""


@dataclass(frozen=True, slots=True)
class MetadataIs(Clause):
    """One top-level metadata key holds this value, by JSON type and value."""

    key: str
    value: Scalar

    def sql(self) -> tuple[str, Params]:
        return equality_sql("threads.metadata", self.key, self.value)

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        return same(top_level(thread.metadata, self.key), self.value)


@dataclass(frozen=True, slots=True)
class ValueIs(Clause):
    """One top-level value of the head is this one, by JSON type and value; `title` is the thread's own."""

    key: str
    value: Scalar

    def sql(self) -> tuple[str, Params]:
        if self.key == "title":
            return _title_sql(self.value)
        equality, params = equality_sql("v.body", self.key, self.value)
        return (
            "EXISTS (SELECT 1 FROM head_values v WHERE v.row = threads.id"
            f" AND v.checkpoint_id = coalesce(threads.head, threads.root) AND {equality})",
            params,
        )

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        if self.key == "title":
            return (thread.title is not None or thread.head is not None) and same(thread.title, self.value)
        if values is None or values.checkpoint_id != (thread.head or thread.root):
            return False
        return same(top_level(values.body, self.key), self.value)


@dataclass(frozen=True, slots=True)
class StatusIs(Clause):
    """Threads of one status."""

    status: Status

    def sql(self) -> tuple[str, Params]:
        return "threads.status = ?", (self.status,)

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        return thread.status == self.status


@dataclass(frozen=True, slots=True)
class IdIn(Clause):
    """Threads with one of these ids; no ids, no threads."""

    ids: frozenset[str]

    def sql(self) -> tuple[str, Params]:
        return "threads.thread_id IN (SELECT value FROM json_each(?))", (self.text(),)

    def text(self) -> str:
        """Give the ids as one JSON text, to be bound as one value whatever their number."""
        return json.dumps(sorted(self.ids))

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        return thread.thread_id in self.ids


@dataclass(frozen=True, slots=True)
class TitleHas(Clause):
    """Threads whose title holds this text, whatever the case; every character is literal."""

    text: str

    def sql(self) -> tuple[str, Params]:
        return "instr(threads.title_folded, ?) > 0", (titles.folded(self.text),)

    def matches(self, thread: Thread, values: HeadValues | None = None) -> bool:
        return thread.title is not None and titles.folded(self.text) in titles.folded(thread.title)


def parse_metadata(given: Mapping[str, Any]) -> list[Clause]:
    """Give one clause an entry; raises Invalid naming every entry that cannot be answered exactly."""
    return [MetadataIs(key, value) for key, value in _proven(given, "metadata")]


def parse_values(given: Mapping[str, Any]) -> list[Clause]:
    """Give one clause an entry; raises Invalid naming every entry that cannot be answered exactly."""
    return [ValueIs(key, value) for key, value in _proven(given, "values")]


def parse_title(query: str) -> list[Clause]:
    """Give the clause of a title search, none for an empty text; raises Invalid for text that no title can hold."""
    fault = limits.text_fault(query)
    if fault is not None:
        raise Invalid({"query": [fault]})
    return [TitleHas(query)] if query else []


def json_type(value: Scalar) -> JsonType:
    """Name the JSON type of a filter value; integers and reals are one type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "text" if isinstance(value, str) else "number"


def equality_sql(column: str, key: str, value: Scalar) -> tuple[str, Params]:
    """Give the SQL that compares one top-level key of a JSON column by type and value.

    A number is bound as JSON text: SQLite then reads both sides with the same routine.
    """
    path, kind = f'$."{key}"', json_type(value)
    if kind == "number":
        numeric = f"json_type({column}, ?) IN ('integer', 'real')"
        return f"({numeric} AND json_extract({column}, ?) = json_extract(?, '$'))", (path, path, json.dumps(value))
    if kind == "text":
        return f"(json_type({column}, ?) = 'text' AND json_extract({column}, ?) = ?)", (path, path, value)
    return f"json_type({column}, ?) = '{kind}'", (path,)


def same(stored: Any, wanted: Scalar) -> bool:
    """Say whether a parsed JSON value is the wanted one, by type and value."""
    if stored is MISSING or isinstance(stored, (dict, list)):
        return False
    return json_type(stored) == json_type(wanted) and bool(stored == wanted)


def top_level(text: str, key: str) -> Any:
    """Read one key of a JSON object, MISSING where it is not there.

    As in SQLite, integers beyond 64 bit are reals and of two equal keys the first counts.
    """
    if f'"{key}"' not in text:
        return MISSING
    try:
        return json.loads(text, parse_int=_integer, object_pairs_hook=_first).get(key, MISSING)
    except RecursionError:
        return MISSING


def _integer(digits: str) -> int | float:
    if len(digits) > 20 or limits.number_fault(int(digits)):
        return float(digits)
    return int(digits)


def _first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _title_sql(value: Scalar) -> tuple[str, Params]:
    if value is None:
        return "(threads.title IS NULL AND threads.head IS NOT NULL)", ()
    return ("threads.title = ?", (value,)) if isinstance(value, str) else ("0", ())


def _proven(given: Mapping[str, Any], field: str) -> list[tuple[str, Scalar]]:
    faults = [f"{limits.shown(key)} {fault}" for key, value in given.items() if (fault := _fault(key, value))]
    if faults:
        raise Invalid({field: faults})
    return list(given.items())


def _fault(key: str, value: Any) -> str | None:
    if not limits.valid_id(key):
        return "is no key to filter by: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -"
    if isinstance(value, str):
        return limits.text_fault(value)
    if isinstance(value, (int, float)):
        return limits.number_fault(value)
    return None if value is None else "must be text, a number, true, false or null"
