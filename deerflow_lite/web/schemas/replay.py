"""The requests and answers about regenerating and editing."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, fields

from deerflow_lite.runs.model import MODES
from deerflow_lite.web.schemas.fields import JsonObject, ListOf, Nested, StrictBoolean, StrictInput, Text, optional
from deerflow_lite.web.schemas.runs import ConfigBody, OneOrMany


@dataclass(frozen=True)
class Regenerate:
    """Which answer is to be given anew."""

    message_id: str


class RegenerateBody(StrictInput):
    record: ClassVar[Any] = Regenerate
    message_id = Text(required=True)


@dataclass(frozen=True)
class Edit:
    """Which question is to be asked otherwise."""

    human_message_id: str
    replacement_text: str


class EditBody(StrictInput):
    record: ClassVar[Any] = Edit
    human_message_id = Text(required=True)
    replacement_text = Text(required=True)


@dataclass(frozen=True)
class Started:
    """How a one-step replay is run: as a stream, or in the background."""

    stream: bool | None
    stream_mode: tuple[str, ...] | None
    config: dict[str, Any] | None
    context: dict[str, Any] | None
    metadata: dict[str, Any] | None


class StartedBody(StrictInput):
    stream = optional(StrictBoolean, metadata={"description": "true: events; false or absent: the run"})
    stream_mode = optional(OneOrMany, *MODES)
    config = Nested(ConfigBody, load_default=None, allow_none=True)
    context = optional(JsonObject)
    metadata = optional(JsonObject)


@dataclass(frozen=True)
class RegenerateRun(Started):
    """A regenerate in one step."""

    message_id: str


class RegenerateRunBody(StartedBody):
    record: ClassVar[Any] = RegenerateRun
    message_id = Text(required=True)


@dataclass(frozen=True)
class EditRun(Started):
    """An edit in one step."""

    human_message_id: str
    replacement_text: str


class EditRunBody(StartedBody):
    record: ClassVar[Any] = EditRun
    human_message_id = Text(required=True)
    replacement_text = Text(required=True)


class PreparedAnswer(Schema):
    """What to post as a run: it starts from the base of the turn and is tied to the head that was seen."""

    input = JsonObject()
    checkpoint = JsonObject()
    metadata = JsonObject()
    target_run_id = fields.String()
    head_checkpoint_id = fields.String()
    replacement_human_message_id = fields.String()
    source_message_ids = ListOf(Text())
