"""The requests and answers about threads."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from marshmallow import Schema, ValidationError, fields, validate

from deerflow_lite.lifecycle.seeding import Step
from deerflow_lite.threads.model import ABSENT, STATUSES, Absent, Status, Ttl
from deerflow_lite.threads.order import SORTS
from deerflow_lite.web.extract import ROOTS, Extract, read_extract
from deerflow_lite.web.schemas.fields import (
    AnyJson,
    Choice,
    Input,
    JsonObject,
    ListOf,
    NewThreadId,
    StrictBoolean,
    StrictInput,
    StrictInteger,
    Text,
    ThreadId,
    Time,
    Title,
    between,
    optional,
)
from deerflow_lite.web.schemas.supersteps import Supersteps
from deerflow_lite.web.schemas.ttl import TtlField

KEYS = (
    "thread_id", "created_at", "updated_at", "state_updated_at", "metadata", "status", "values", "interrupts", "error",
    "config", "title", "head_checkpoint_id",
)  # fmt: skip
MOST_EQUALITIES = 100
TTL = "ttl: minutes without activity, then strategy: delete (where absent) or keep_latest"


class Extracts(JsonObject):
    """Aliases of paths into a thread, at most 10."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        paths = super()._deserialize(value, attr, data, **kwargs)
        try:
            return read_extract(paths)
        except ValueError as error:
            raise ValidationError(error.args[0]) from None


@dataclass(frozen=True)
class ThreadCreate:
    """What POST /threads was given."""

    thread_id: str | None
    metadata: dict[str, Any] | None
    if_exists: Literal["raise", "do_nothing"] | None
    assistant_id: str | None
    title: str | None
    ttl: Ttl | None
    supersteps: list[list[Step]] | None


class ThreadCreateBody(Input):
    record: ClassVar[Any] = ThreadCreate
    thread_id = optional(NewThreadId, metadata={"description": "absent: the service makes a UUIDv7"})
    metadata = optional(JsonObject)
    if_exists = optional(Choice, "raise", "do_nothing", metadata={"description": "do_nothing where absent"})
    assistant_id = optional(Text, metadata={"description": "its graph goes into metadata"})
    title = optional(Title)
    ttl = optional(TtlField, metadata={"description": TTL})
    supersteps = optional(Supersteps)


@dataclass(frozen=True)
class ThreadPatch:
    """What PATCH was given; a title of None gives it back to the service, a ttl of None takes it away."""

    metadata: dict[str, Any] | None
    title: str | None | Absent = ABSENT
    ttl: Ttl | None | Absent = ABSENT


class ThreadPatchBody(StrictInput):
    record: ClassVar[Any] = ThreadPatch
    metadata = optional(JsonObject, metadata={"description": "merged shallowly; null is stored"})
    title = Title(allow_none=True, metadata={"description": "null gives the title back to the service"})
    ttl = TtlField(allow_none=True, metadata={"description": f"{TTL}; null takes it away and moves no time"})


@dataclass(frozen=True)
class Filters:
    """Which threads are meant; None is no filter."""

    metadata: dict[str, Any] | None
    archived: bool | None
    status: Status | None
    ids: list[str] | None
    query: str | None
    values: dict[str, Any] | None


@dataclass(frozen=True)
class Search(Filters):
    """What POST /threads/search was given."""

    limit: int
    offset: int
    cursor: str | None
    sort_by: str | None
    sort_order: str | None
    select: list[str] | None
    extract: Extract | None = field(default=None)


class Equalities(JsonObject):
    """A few top-level keys and the values they must have."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        wanted = super()._deserialize(value, attr, data, **kwargs)
        if len(wanted) <= MOST_EQUALITIES:
            return wanted
        raise ValidationError(f"must not have more than {MOST_EQUALITIES} entries")


class FiltersBody(StrictInput):
    record: ClassVar[Any] = Filters
    metadata = optional(Equalities, metadata={"description": "equalities on top-level keys, on JSON type and value"})
    archived = optional(StrictBoolean)
    status = optional(Choice, *STATUSES)
    ids = optional(ListOf, ThreadId())
    query = optional(Text, metadata={"description": "a part of the title, whatever its case"})
    values = optional(Equalities, metadata={"description": "equalities on top-level values"})


class SearchBody(FiltersBody):
    record: ClassVar[Any] = Search
    limit = StrictInteger(load_default=100, validate=between(1, 1000))
    offset = StrictInteger(load_default=0, validate=validate.Range(0, error="must not be negative"))
    cursor = optional(Text, metadata={"description": "X-Next-Cursor of the page before; default order only"})
    sort_by = optional(Choice, *SORTS, metadata={"description": "absent: pinned first, then updated_at descending"})
    sort_order = optional(Choice, "asc", "desc")
    select = optional(ListOf, Choice(*KEYS))
    extract = optional(Extracts, metadata={"description": f"alias: path, starting with {', '.join(ROOTS)}"})


@dataclass(frozen=True)
class BulkArchive:
    """What POST /threads/archive was given."""

    archived: bool
    dry_run: bool | None
    thread_ids: list[str] | None
    older_than: str | None


class BulkArchiveBody(StrictInput):
    record: ClassVar[Any] = BulkArchive
    archived = StrictBoolean(required=True)
    dry_run = optional(StrictBoolean)
    thread_ids = optional(ListOf, ThreadId())
    older_than = optional(Time, metadata={"description": "threads updated before this time"})


class ThreadAnswer(Schema):
    """One thread."""

    thread_id = fields.String()
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    state_updated_at = fields.DateTime()
    metadata = JsonObject()
    status = fields.String(validate=validate.OneOf(STATUSES))
    values = JsonObject(allow_none=True)
    interrupts = JsonObject()
    error = JsonObject(allow_none=True)
    config = JsonObject()
    title = fields.String(allow_none=True)
    head_checkpoint_id = fields.String(allow_none=True)
    ttl = JsonObject(allow_none=True, metadata={"description": "only where `include` asks for it"})


class FoundThread(ThreadAnswer):
    """One thread of a search, with the keys that were asked for."""

    extracted = fields.Dict(fields.String(), AnyJson(allow_none=True))


class ArchiveAnswer(Schema):
    """What a bulk archive did, or in a dry run would do."""

    matched = fields.Integer()
    changed = fields.Integer()
    thread_ids = fields.List(fields.String())
