"""The SQL of searching and counting threads; it decides which index a question walks, never what it means.

Invariants: the owner is an equality in every statement; every clause's own SQL is applied whatever narrows it;
filter, then order, then cut; a page leaves SQLite as one JSON row.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from deerflow_lite.threads import entries, flags, order
from deerflow_lite.threads.filters import Clause, IdIn, MetadataIs, StatusIs
from deerflow_lite.threads.flags import ArchivedIs
from deerflow_lite.threads.model import Found, Page, Thread
from deerflow_lite.threads.store import TOTAL_CAP, kept

NARROW_ROWS: Final = 5000
COLUMNS: Final = (
    "id", "thread_id", "owner", "created_at", "updated_at", "state_updated_at", "metadata", "status", "title",
    "title_manual", "head", "root", "interrupts", "error", "ttl_minutes", "ttl_strategy", "ttl_from",
)  # fmt: skip
_MANUAL: Final = COLUMNS.index("title_manual")
_SORT_INDEX: Final = {
    "thread_id": "threads_thread_id",
    "status": "threads_list",
    "created_at": "threads_created_at",
    "updated_at": "threads_updated_at",
    "state_updated_at": "threads_state_updated_at",
}
_SORTED: Final = "threads.id, threads.pinned, " + ", ".join(f"threads.{name}" for name in order.SORTS)
_META: Final = "m.key = ? AND m.type = ? AND m.value = json_extract(?, '$')"
_PROBE: Final = """EXISTS (SELECT 1 FROM thread_meta m
    WHERE m.row = threads.id AND m.key = ? AND +m.type = ? AND +m.value = json_extract(?, '$'))"""
Params = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the rows come from, and the conditions on them."""

    source: str
    where: tuple[str, ...]
    params: Params

    def sql(self, columns: str, tail: str = "") -> str:
        return f"SELECT {columns} FROM {self.source} WHERE {' AND '.join(self.where) or '1'} {tail}"


def search(connection: sqlite3.Connection, owner: str | None, clauses: Sequence[Clause], page: Page) -> Found:
    """Give one page of the matches and their number, exact up to the cap."""
    narrow = _narrow(connection, owner, clauses)
    rows = _rows(owner, clauses, narrow, order.sort_name(page))
    if narrow is not None:
        threads, total = _hits(connection, rows, page)
    else:
        threads, total = _page(connection, rows, page), None
    more = len(threads) > page.limit
    if total is None and (more or page.offset or page.cursor):
        total = _total(connection, owner, clauses, narrow, TOTAL_CAP + 1)
    total = len(threads) if total is None else total
    capped = total > TOTAL_CAP and not kept(clauses)
    threads = threads[: page.limit]
    cursor = order.place(threads[-1]) if more and order.sort_name(page) is None else None
    return Found(threads, TOTAL_CAP if capped else total, capped, more, cursor)


def count(connection: sqlite3.Connection, owner: str | None, clauses: Sequence[Clause]) -> int:
    """Count every match."""
    return _total(connection, owner, clauses, _narrow(connection, owner, clauses), None)


def read(row: Sequence[Any]) -> Thread:
    """Make the record of one row of COLUMNS."""
    fields = list(row)
    fields[_MANUAL] = bool(fields[_MANUAL])
    return Thread(*fields)


def _page(connection: sqlite3.Connection, rows: Rows, page: Page) -> list[Thread]:
    (text,) = connection.execute(*_cut(rows, page, "")).fetchone()
    return [read(row) for row in orjson.loads(text)]


def _hits(connection: sqlite3.Connection, rows: Rows, page: Page) -> tuple[list[Thread], int]:
    """Look at few rows once, for the page and for the total."""
    hits = f"WITH hits AS MATERIALIZED ({rows.sql(_SORTED)})"
    statement, params = _cut(Rows("hits AS threads", (), ()), page, "(SELECT count(*) FROM hits), ")
    total, text = connection.execute(f"{hits} {statement}", (*rows.params, *params)).fetchone()
    return [read(row) for row in orjson.loads(text)], total


def _cut(rows: Rows, page: Page, before: str) -> tuple[str, Params]:
    """Give the SELECT of one page; ids are picked first, so that no sort or offset carries metadata along."""
    where, params = rows.where, rows.params
    if page.cursor is not None:
        where += ("(threads.pinned, threads.updated_at, threads.thread_id) < (?, ?, ?)",)
        params += page.cursor
    picked = Rows(rows.source, where, params).sql("threads.id", f"ORDER BY {_order(page)} LIMIT ? OFFSET ?")
    fields = ", ".join(f"t.{name}" for name in COLUMNS)
    statement = f"SELECT {before}json_group_array(json_array({fields})) FROM ({picked}) p CROSS JOIN threads t"
    return f"{statement} ON t.id = p.id", (*params, page.limit + 1, page.offset)


def _order(page: Page) -> str:
    name = order.sort_name(page)
    if name is None:
        return "threads.pinned DESC, threads.updated_at DESC, threads.thread_id DESC"
    way = "DESC" if page.descending else "ASC"
    names = dict.fromkeys((name, "thread_id"))
    return ", ".join(f"threads.{name} {way}" for name in names)


def _total(
    connection: sqlite3.Connection, owner: str | None, clauses: Sequence[Clause], narrow: Rows | None, most: int | None
) -> int:
    """Count the matches, no further than `most`."""
    if kept(clauses):
        rows, columns = _totals(owner, clauses)
        return int(connection.execute(rows.sql(columns), rows.params).fetchone()[0])
    rows = _counted(owner, clauses, narrow)
    limit = "" if most is None else f"LIMIT {most}"
    statement = f"SELECT count(*) FROM ({rows.sql('1', limit)})"
    return int(connection.execute(statement, rows.params).fetchone()[0])


def _totals(owner: str | None, clauses: Sequence[Clause]) -> tuple[Rows, str]:
    wanted = "total"
    for clause in clauses:
        wanted = "archived" if clause == flags.archived_clause(True) else "total - archived"
    where, params = ((), ()) if owner is None else (("owner = ?",), (owner,))
    return Rows("thread_totals", where, params), f"coalesce(sum({wanted}), 0)"


def _counted(owner: str | None, clauses: Sequence[Clause], narrow: Rows | None) -> Rows:
    """Counting needs no order: a value too common to narrow by is still walked by its own entries."""
    first = next((clause for clause in clauses if isinstance(clause, MetadataIs)), None)
    if narrow is not None or owner is None or first is None or _rare(clauses):
        return _rows(owner, clauses, narrow, None, counting=True)
    filed = _entries(owner, first)
    rest = [clause for clause in clauses if clause is not first or _long(first)]
    if not rest:
        return filed
    where, params = _conditions(owner, rest, _counting)
    source = f"{filed.source} CROSS JOIN threads NOT INDEXED ON threads.id = m.row"
    return Rows(source, filed.where + where, filed.params + params)


def _rare(clauses: Sequence[Clause]) -> bool:
    return any(
        clause == flags.archived_clause(True) or (isinstance(clause, StatusIs) and clause.status != "idle")
        for clause in clauses
    )


def _rows(
    owner: str | None, clauses: Sequence[Clause], narrow: Rows | None, sort_by: str | None, counting: bool = False
) -> Rows:
    describe = _plain if narrow is not None else _counting if counting else _probing
    where, params = _conditions(owner, clauses, describe)
    if narrow is not None:
        inside = f"threads.id IN ({narrow.sql('m.row')})"
        return Rows("threads NOT INDEXED", (inside, *where), narrow.params + params)
    if owner is None:
        return Rows("threads", where, params)
    if sort_by is not None:
        return Rows(f"threads INDEXED BY {_SORT_INDEX[sort_by]}", where, params)
    if any(isinstance(clause, StatusIs) and clause.status != "idle" for clause in clauses):
        return Rows("threads INDEXED BY threads_active", (*where, "threads.status <> 'idle'"), params)
    archived = any(isinstance(clause, ArchivedIs) for clause in clauses)
    return Rows(f"threads INDEXED BY {'threads_archived' if archived else 'threads_list'}", where, params)


def _conditions(
    owner: str | None, clauses: Sequence[Clause], describe: Callable[[Clause], tuple[str, Params]]
) -> tuple[tuple[str, ...], Params]:
    described = [describe(clause) for clause in clauses]
    if owner is not None:
        described.insert(0, ("threads.owner = ?", (owner,)))
    return tuple(text for text, _ in described), tuple(value for _, params in described for value in params)


def _plain(clause: Clause) -> tuple[str, Params]:
    return clause.sql()


def _probing(clause: Clause) -> tuple[str, Params]:
    """Ask the entries first: a row that has none is passed by without being read."""
    if not isinstance(clause, MetadataIs):
        return clause.sql()
    text, params = clause.sql()
    return f"CASE WHEN {_PROBE} THEN {text} END", (*_meta(clause), *params)


def _counting(clause: Clause) -> tuple[str, Params]:
    """The entries of a row that stands are exact, but for long texts: no row needs to be read to be counted."""
    if not isinstance(clause, MetadataIs) or _long(clause):
        return _probing(clause)
    return _PROBE, _meta(clause)


def _long(clause: MetadataIs) -> bool:
    return isinstance(clause.value, str) and len(clause.value) > entries.LONG_TEXT


def _narrow(connection: sqlite3.Connection, owner: str | None, clauses: Sequence[Clause]) -> Rows | None:
    """Give the few rows that can match at all, None where they are many or unknown."""
    for clause in clauses:
        if isinstance(clause, IdIn):
            source = "(SELECT t.id AS row FROM json_each(?) j CROSS JOIN threads t ON t.thread_id = j.value) m"
            return Rows(source, (), (clause.text(),))
    if owner is None:
        return None
    filed = [_entries(owner, clause) for clause in clauses if isinstance(clause, MetadataIs)]
    sizes = [_size(connection, rows) for rows in filed]
    if not sizes or min(sizes) > NARROW_ROWS:
        return None
    return filed[sizes.index(min(sizes))]


def _size(connection: sqlite3.Connection, rows: Rows) -> int:
    statement = f"SELECT count(*) FROM ({rows.sql('1', f'LIMIT {NARROW_ROWS + 1}')})"
    return int(connection.execute(statement, rows.params).fetchone()[0])


def _entries(owner: str, clause: MetadataIs) -> Rows:
    return Rows("thread_meta m INDEXED BY thread_meta_values", ("m.owner = ?", _META), (owner, *_meta(clause)))


def _meta(clause: MetadataIs) -> Params:
    return clause.key, *entries.filed(clause.value)
