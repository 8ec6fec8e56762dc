"""The verbs on threads: each asks one room and shapes its answer; no rule about threads lives here."""

from collections.abc import Callable, Sequence
from typing import Any

from deerflow_lite import clock
from deerflow_lite.errors import Invalid
from deerflow_lite.threads.changing import client_metadata
from deerflow_lite.threads.filters import Clause, IdIn, StatusIs, parse_metadata, parse_title, parse_values
from deerflow_lite.threads.flags import archived_clause
from deerflow_lite.threads.model import Change, Found, NewThread, Page, Thread
from deerflow_lite.web import examples
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.cursor import read_cursor, write_cursor
from deerflow_lite.web.schemas.threads import (
    ArchiveAnswer,
    BulkArchive,
    BulkArchiveBody,
    Filters,
    FiltersBody,
    FoundThread,
    Search,
    SearchBody,
    ThreadAnswer,
    ThreadCreate,
    ThreadCreateBody,
    ThreadPatch,
    ThreadPatchBody,
)
from deerflow_lite.web.schemas.ttl import IncludeQuery, Including
from deerflow_lite.web.thread_shape import extracted, thread_json, ttl_json

routes = Routes("Threads", "Conversations: create, find, name, file away, copy, delete")
THREAD = "/threads/<thread_id>"
PAGING = ("X-Pagination-Total", "X-Pagination-Total-Capped", "X-Pagination-Next", "X-Next-Cursor")


def whole(call: Call, thread: Thread) -> dict[str, Any]:
    """Give a thread with the values of its head."""
    return thread_json(thread, call.gateway.states.values([thread]))


@routes.route("POST", "/threads", body=ThreadCreateBody, answer=ThreadAnswer, refusals=(400, 404, 409, 413),
              example=examples.CREATE)  # fmt: skip
def create_thread(call: Call, body: ThreadCreate) -> Any:
    """Make a thread.

    One of the caller's own that exists is given unchanged, or is 409 with `if_exists: raise`. With `supersteps` it
    begins with what its graph makes of them.
    """
    metadata = client_metadata(body.metadata or {})
    if body.assistant_id is not None:
        assistant = call.gateway.graphs.assistant(body.assistant_id)
        metadata |= {"graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id}
    new = NewThread(body.thread_id or clock.new_id(), metadata, body.title, body.title is not None, ttl=body.ttl)
    steps = body.supersteps or ()
    return whole(call, call.gateway.seeding.create(call.owner, new, steps, body.if_exists or "do_nothing"))


@routes.route("POST", "/threads/search", body=SearchBody, answer=[FoundThread], example=examples.SEARCH,
              headers=PAGING)  # fmt: skip
def search_threads(call: Call, body: Search) -> Any:
    """Find threads, one page of them.

    Without `sort_by` the pinned ones come first, then the newest; a cursor goes with that order only.
    """
    found = call.gateway.threads.search(call.owner, clauses(body), page_of(body))
    return rows(call, body, found.threads), 200, page_headers(body, found)


@routes.route("POST", "/threads/count", body=FiltersBody, answer={"type": "integer"}, example=examples.COUNT)
def count_threads(call: Call, body: Filters) -> int:
    """Count threads exactly; the filters are those of a search."""
    return call.gateway.threads.count(call.owner, clauses(body))


@routes.route("POST", "/threads/archive", body=BulkArchiveBody, answer=ArchiveAnswer, refusals=(404,),
              example=examples.ARCHIVE)  # fmt: skip
def archive_threads(call: Call, body: BulkArchive) -> dict[str, Any]:
    """Archive or restore many threads in one transaction.

    Exactly one of `thread_ids` and `older_than` chooses them. An unknown id changes nothing at all.
    """
    if (body.thread_ids is None) == (body.older_than is None):
        raise Invalid({"thread_ids": ["exactly one of thread_ids and older_than must be given"]})
    chosen = None if body.thread_ids is None else list(dict.fromkeys(body.thread_ids))
    done = call.gateway.threads.archive(call.owner, chosen, body.older_than, body.archived, bool(body.dry_run))
    return {"matched": done.matched, "changed": done.changed, "thread_ids": done.thread_ids}


@routes.route("GET", THREAD, query=IncludeQuery, answer=ThreadAnswer, refusals=(404,), example=examples.GET)
def get_thread(call: Call, thread_id: str, query: Including) -> Any:
    """Give one thread with the values of its head."""
    thread = call.gateway.threads.get(call.owner, thread_id)
    return whole(call, thread) | ({"ttl": ttl_json(thread)} if query.include else {})


@routes.route("PATCH", THREAD, body=ThreadPatchBody, answer=ThreadAnswer, refusals=(404, 413), example=examples.PATCH)
def change_thread(call: Call, thread_id: str, body: ThreadPatch) -> Any:
    """Merge metadata, set the title and the time to live; null takes either back.

    Archiving and pinning move no time. `Prefer: return=minimal` gets 204.
    """
    metadata = client_metadata(body.metadata or {})
    change = Change(metadata=metadata, title=body.title, ttl=body.ttl)
    if body.title is None:
        thread = call.gateway.naming.give_back(call.owner, thread_id, change)
    else:
        thread = call.gateway.threads.change(call.owner, thread_id, change)
    return None if call.prefers_minimal() else whole(call, thread)


@routes.route("POST", THREAD + "/copy", answer=ThreadAnswer, refusals=(404,), example=examples.COPY)
def copy_thread(call: Call, thread_id: str) -> Any:
    """Copy a thread with all its checkpoints under a new id."""
    return whole(call, call.gateway.copying.copy(call.owner, thread_id))


@routes.route("DELETE", THREAD, status=204, refusals=(404, 409), example=examples.DELETE)
def delete_thread(call: Call, thread_id: str) -> None:
    """Delete a thread and everything that belongs to it."""
    call.gateway.deleting.delete(call.owner, thread_id)


def clauses(asked: Filters) -> list[Clause]:
    """Turn filters into clauses; raises Invalid naming every bad entry of every filter."""
    made: list[Clause] = []
    problems: dict[str, list[str]] = {}
    parsers: list[Callable[[], list[Clause]]] = [
        lambda: parse_metadata(asked.metadata or {}),
        lambda: parse_values(asked.values or {}),
        lambda: parse_title(asked.query or ""),
    ]
    for parse in parsers:
        try:
            made += parse()
        except Invalid as error:
            problems |= error.errors
    if problems:
        raise Invalid(problems)
    made += [] if asked.archived is None else [archived_clause(asked.archived)]
    made += [] if asked.status is None else [StatusIs(asked.status)]
    made += [] if asked.ids is None else [IdIn(frozenset(asked.ids))]
    return made


def page_of(body: Search) -> Page:
    """Say which rows are meant; raises Invalid for a cursor that does not go with the rest."""
    ascending = body.sort_order == "asc"
    default = body.sort_by is None or (body.sort_by == "updated_at" and not ascending)
    if body.cursor is None:
        return Page(body.limit, body.offset, None, None if default else body.sort_by, default or not ascending)
    if not default:
        raise Invalid({"cursor": ["goes with the default order only, not with another sort_by"]})
    if body.offset:
        raise Invalid({"cursor": ["cannot go with an offset"]})
    return Page(body.limit, 0, read_cursor(body.cursor))


def rows(call: Call, body: Search, threads: Sequence[Thread]) -> list[dict[str, Any]]:
    """Give the rows of a page; the values of heads are read only where they are asked for."""
    extract = body.extract or {}
    asked = body.select is None or "values" in body.select
    needed = asked or any(steps[0] == "values" for steps in extract.values())
    values = call.gateway.states.values(threads) if needed else {}
    shown = [thread_json(thread, values, body.select) for thread in threads]
    for row, thread in zip(shown, threads, strict=True):
        if extract:
            row["extracted"] = extracted(thread, values, extract)
    return shown


def page_headers(body: Search, found: Found) -> dict[str, str]:
    """Tell the total and where the next page begins."""
    headers = {"X-Pagination-Total": str(found.total)}
    if found.capped:
        headers["X-Pagination-Total-Capped"] = "true"
    if found.more and body.cursor is None:
        headers["X-Pagination-Next"] = str(body.offset + len(found.threads))
    if found.cursor is not None:
        headers["X-Next-Cursor"] = write_cursor(found.cursor)
    return headers
