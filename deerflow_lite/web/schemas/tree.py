"""The requests and answers about turns, their tree and the head."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, fields, validate

from deerflow_lite.web.schemas.fields import (
    JsonObject,
    ListOf,
    NotBlank,
    QueryBoolean,
    QueryInteger,
    StrictInput,
    Text,
    between,
    optional,
)

STATUSES = ("done", "failed", "interrupted", "running")


@dataclass(frozen=True)
class HeadChoice:
    """Which checkpoint a thread shall stand on."""

    checkpoint_id: str


class HeadBody(StrictInput):
    record: ClassVar[Any] = HeadChoice
    checkpoint_id = NotBlank(required=True)


@dataclass(frozen=True)
class TreeLook:
    """How a tree is looked at."""

    texts: bool | None


class TreeQuery(StrictInput):
    record: ClassVar[Any] = TreeLook
    texts = QueryBoolean(
        load_default=None, metadata={"description": "true: with the first words of each question and answer"}
    )


@dataclass(frozen=True)
class TurnsLook:
    """Which turns of the selected path are asked for."""

    before: str | None
    limit: int


class TurnsQuery(StrictInput):
    record: ClassVar[Any] = TurnsLook
    before = optional(Text, metadata={"description": "id of a turn; the page ends before it"})
    limit = QueryInteger(load_default=50, validate=between(1, 200))


@dataclass(frozen=True)
class MessagesLook:
    """Which messages of the selected path are asked for."""

    before_seq: int | None
    limit: int


class MessagesQuery(StrictInput):
    record: ClassVar[Any] = MessagesLook
    before_seq = optional(
        QueryInteger,
        validate=validate.Range(1, error="must be at least {min}"),
        metadata={"description": "`seq` of a message; the page ends before it"},
    )
    limit = QueryInteger(load_default=50, validate=between(1, 200))


class TurnAnswer(Schema):
    """One turn: the user messages of one run and all that answers them."""

    turn_id = fields.String()
    parent_turn_id = fields.String(allow_none=True)
    human_message_id = fields.String(allow_none=True)
    message_ids = ListOf(Text())
    checkpoint_id = fields.String()
    base_checkpoint_id = fields.String(allow_none=True)
    run_id = fields.String(allow_none=True)
    created_at = fields.DateTime(allow_none=True)
    status = fields.String(validate=validate.OneOf(STATUSES))
    sibling_index = fields.Integer()
    sibling_count = fields.Integer()
    on_selected_path = fields.Boolean()


class SaidTurnAnswer(TurnAnswer):
    """One turn with its messages, hidden ones included."""

    messages = ListOf(JsonObject())


class TurnsAnswer(Schema):
    """Turns of the selected path, the newest last."""

    turns = fields.List(fields.Nested(SaidTurnAnswer))
    has_more = fields.Boolean()


class MessageRowAnswer(Schema):
    """One message with its place on the selected path; `run_id` is its turn's id where no run is known."""

    thread_id = fields.String()
    run_id = fields.String()
    seq = fields.Integer()
    event_type = fields.String()
    category = fields.String()
    content = JsonObject()
    created_at = fields.DateTime(allow_none=True)
    metadata = JsonObject()
    feedback = JsonObject(allow_none=True)


class MessagesAnswer(Schema):
    """Messages of the selected path, the newest last."""

    data = fields.List(fields.Nested(MessageRowAnswer))
    has_more = fields.Boolean()
    next_before_seq = fields.Integer(allow_none=True)


class TreeTurnAnswer(TurnAnswer):
    """One turn of a tree; `question` and `answer` are there where texts were asked for."""

    question = fields.String()
    answer = fields.String()


class BrokenAnswer(Schema):
    """A checkpoint that cannot be followed or read."""

    checkpoint_id = fields.String()
    reason = fields.String()


class TreeAnswer(Schema):
    """Every turn of a thread once, parents first."""

    turns = fields.List(fields.Nested(TreeTurnAnswer))
    head_checkpoint_id = fields.String(allow_none=True)
    broken = fields.List(fields.Nested(BrokenAnswer))
