"""The request and answer of a branch."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, fields, validate

from deerflow_lite.web.schemas.fields import ListOf, StrictInput, Text, Title, optional

_NAMED = validate.Length(min=1, error="must not be empty")


@dataclass(frozen=True)
class BranchFrom:
    """What POST /threads/{thread_id}/branches was given."""

    message_id: str
    message_ids: list[str] | None
    title: str | None


class BranchBody(StrictInput):
    record: ClassVar[Any] = BranchFrom
    message_id = Text(required=True, validate=_NAMED, metadata={"description": "an answer of the turn"})
    message_ids = optional(ListOf, Text(validate=_NAMED), metadata={"description": "more answers of the same turn"})
    title = optional(Title)


class BranchAnswer(Schema):
    """The new thread and what it was made from."""

    thread_id = fields.String()
    parent_thread_id = fields.String()
    parent_checkpoint_id = fields.String()
    branched_from_message_id = fields.String()
    workspace_clone_mode = fields.String(metadata={"description": "what became of the files"})
    history_seed_mode = fields.String()
