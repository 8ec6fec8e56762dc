"""The requests and answers about assistants."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, fields, validate

from deerflow_lite.web.schemas.fields import (
    Choice,
    Input,
    JsonObject,
    ListOf,
    QueryBoolean,
    StrictInput,
    StrictInteger,
    Text,
    between,
    optional,
)

KEYS = (
    "assistant_id", "graph_id", "config", "context", "metadata", "name", "created_at", "updated_at", "version",
    "description",
)  # fmt: skip
SORTS = ("assistant_id", "graph_id", "name", "created_at", "updated_at")


@dataclass(frozen=True)
class AssistantFilters:
    """Which assistants are meant; None is no filter."""

    metadata: dict[str, Any] | None
    graph_id: str | None
    name: str | None


@dataclass(frozen=True)
class AssistantSearch(AssistantFilters):
    """What POST /assistants/search was given."""

    limit: int
    offset: int
    sort_by: str | None
    sort_order: str | None
    select: list[str] | None


class AssistantFiltersBody(StrictInput):
    record: ClassVar[Any] = AssistantFilters
    metadata = optional(JsonObject, metadata={"description": "equalities on top-level keys"})
    graph_id = optional(Text)
    name = optional(Text)


class AssistantSearchBody(AssistantFiltersBody):
    record: ClassVar[Any] = AssistantSearch
    limit = StrictInteger(load_default=10, validate=between(1, 1000))
    offset = StrictInteger(load_default=0, validate=validate.Range(0, error="must not be negative"))
    sort_by = optional(Choice, *SORTS)
    sort_order = optional(Choice, "asc", "desc")
    select = optional(ListOf, Choice(*KEYS))


@dataclass(frozen=True)
class Drawing:
    """How a graph is drawn."""

    xray: bool | int


@dataclass(frozen=True)
class Subgraphs:
    """Which subgraphs are told."""

    recurse: bool


class XRay(QueryBoolean):
    """true, false, or how many levels deep."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = str(value)
        if text.isascii() and text.isdigit() and len(text) < 3:
            return int(text) or False
        return super()._deserialize(value, attr, data, **kwargs)


class DrawingQuery(Input):
    record: ClassVar[Any] = Drawing

    xray = XRay(load_default=False, metadata={"description": "open subgraphs; a number opens that many levels"})


class SubgraphsQuery(Input):
    record: ClassVar[Any] = Subgraphs

    recurse = QueryBoolean(load_default=False)


class AssistantAnswer(Schema):
    """The name under which clients reach a graph; `error` says why it cannot run."""

    assistant_id = fields.UUID()
    graph_id = fields.String()
    config = JsonObject()
    context = JsonObject()
    metadata = JsonObject()
    name = fields.String()
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    version = fields.Integer()
    description = fields.String(allow_none=True)
    error = fields.String()
