"""The requests and answers about states."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, ValidationError, fields

from deerflow_lite.web.schemas.fields import (
    AnyJson,
    Input,
    JsonObject,
    ListOf,
    Nested,
    QueryBoolean,
    QueryInteger,
    StrictBoolean,
    StrictInteger,
    Text,
    between,
    optional,
)
from deerflow_lite.web.schemas.runs import CheckpointBody


class Before(Text):
    """A checkpoint: its id, `{checkpoint_id}`, or `{configurable: {checkpoint_id}}`; loads as the id."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        for inner in ("configurable", "checkpoint_id"):
            if isinstance(value, dict) and inner in value:
                value = value[inner]
        if isinstance(value, str) and value:
            return value
        raise ValidationError("must be a checkpoint id, {checkpoint_id} or {configurable: {checkpoint_id}}")


@dataclass(frozen=True)
class StateLook:
    """How a state is looked at."""

    subgraphs: bool | None


class StateQuery(Input):
    record: ClassVar[Any] = StateLook
    subgraphs = optional(QueryBoolean)


@dataclass(frozen=True)
class StateAt:
    """Which state is asked for."""

    checkpoint: dict[str, Any]
    subgraphs: bool | None


class StateAtBody(Input):
    record: ClassVar[Any] = StateAt
    checkpoint = Nested(CheckpointBody, required=True)
    subgraphs = optional(StrictBoolean)


@dataclass(frozen=True)
class StateUpdate:
    """What POST /threads/{thread_id}/state was given."""

    values: Any
    as_node: str | None
    checkpoint: dict[str, Any] | None
    checkpoint_id: str | None


class StateUpdateBody(Input):
    record: ClassVar[Any] = StateUpdate
    values = AnyJson(load_default=None, allow_none=True)
    as_node = optional(Text)
    checkpoint = Nested(CheckpointBody, load_default=None, allow_none=True)
    checkpoint_id = optional(Text)


@dataclass(frozen=True)
class History:
    """Which states of a thread are asked for."""

    limit: int
    before: str | None
    metadata: dict[str, Any] | None
    checkpoint: dict[str, Any] | None


class HistoryBody(Input):
    record: ClassVar[Any] = History
    limit = StrictInteger(load_default=10, validate=between(1, 1000))
    before = optional(Before)
    metadata = optional(JsonObject)
    checkpoint = Nested(CheckpointBody, load_default=None, allow_none=True)


class HistoryQuery(Input):
    record: ClassVar[Any] = History
    limit = QueryInteger(load_default=10, validate=between(1, 1000))
    before = optional(Before)
    metadata = fields.Constant(None)
    checkpoint = fields.Constant(None)


class StateAnswer(Schema):
    """The state of a thread at one checkpoint."""

    values = AnyJson()
    next = ListOf(Text())
    tasks = ListOf(JsonObject())
    metadata = JsonObject(allow_none=True)
    created_at = fields.DateTime(allow_none=True)
    checkpoint = JsonObject(allow_none=True)
    parent_checkpoint = JsonObject(allow_none=True)
    interrupts = ListOf(JsonObject())
    checkpoint_id = fields.String(allow_none=True)
    parent_checkpoint_id = fields.String(allow_none=True)


class UpdateAnswer(Schema):
    """The place of the checkpoint that an update made."""

    checkpoint = JsonObject()
    configurable = JsonObject()
    checkpoint_id = fields.String()
