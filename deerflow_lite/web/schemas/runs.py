"""The requests and answers about runs."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from deerflow_lite.graphs.call import asked
from deerflow_lite.runs.model import MODES, STATUSES, STRATEGIES
from deerflow_lite.web.schemas.fields import (
    AnyJson,
    Choice,
    Input,
    JsonObject,
    ListOf,
    Nested,
    QueryBoolean,
    QueryInteger,
    StrictBoolean,
    StrictInput,
    StrictInteger,
    Text,
    ThreadId,
    between,
    not_served,
    optional,
)

KEYS = (
    "run_id", "thread_id", "assistant_id", "metadata", "status", "kwargs", "multitask_strategy", "created_at",
    "updated_at", "error",
)  # fmt: skip
LATEST = 10 * 366 * 86_400


class OneOrMany(Text):
    """A word, or a list of words; loads as a tuple."""

    def __init__(self, *words: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._words = words

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        given = value if isinstance(value, list) else [value]
        texts = [super(OneOrMany, self)._deserialize(one, attr, data, **kwargs) for one in given]
        wrong = [text for text in texts if self._words and text not in self._words]
        if wrong:
            raise ValidationError(f"{', '.join(wrong)} is unknown; it must be of {', '.join(self._words)}")
        return tuple(texts)


class Nodes(OneOrMany):
    """`*` for all nodes, or a list of their names."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return "*" if value == "*" else super()._deserialize(value, attr, data, **kwargs)


class EmptyList(ListOf):
    """A list of LangGraph's that is not served, unless it is empty."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if super()._deserialize(value, attr, data, **kwargs):
            raise ValidationError("is not served")
        return None


class CommandBody(Input):
    """What goes on with a thread otherwise than by new input; one that asks for nothing is none."""

    record: ClassVar[Any] = staticmethod(asked)
    resume = AnyJson(allow_none=True)
    update = AnyJson(allow_none=True)
    goto = AnyJson(allow_none=True)


class CheckpointBody(Input):
    """A place in a thread; a `thread_id` in it gives way to the path's."""

    checkpoint_id = optional(Text)
    checkpoint_ns = optional(Text)


class Configurable(JsonObject):
    """What a graph is configured with, of any content but for the one name that the service reads itself."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, Any]:
        given = super()._deserialize(value, attr, data, **kwargs)
        dropped = given.get("drop_channels") or []
        if isinstance(dropped, list) and all(isinstance(name, str) for name in dropped):
            return given
        raise ValidationError({"drop_channels": ["must be a list of names of channels"]})


class ConfigBody(Input):
    """LangGraph's RunnableConfig."""

    configurable = optional(Configurable)
    metadata = optional(JsonObject)
    tags = optional(ListOf, Text())
    recursion_limit = optional(StrictInteger, validate=validate.Range(1, error="must be at least 1"))


@dataclass(frozen=True)
class RunCreate:
    """What a run was asked for with."""

    assistant_id: str
    input: Any
    command: dict[str, Any] | None
    config: dict[str, Any] | None
    context: dict[str, Any] | None
    metadata: dict[str, Any] | None
    stream_mode: tuple[str, ...] | None
    stream_subgraphs: bool | None
    stream_resumable: bool | None
    interrupt_before: str | tuple[str, ...] | None
    interrupt_after: str | tuple[str, ...] | None
    durability: str | None
    checkpoint_during: bool | None
    multitask_strategy: str | None
    if_not_exists: str | None
    on_disconnect: str | None
    on_completion: str | None
    checkpoint: dict[str, Any] | None
    checkpoint_id: str | None
    webhook: None
    feedback_keys: None
    after_seconds: int | None


class RunCreateBody(Input):
    record: ClassVar[Any] = RunCreate
    assistant_id = Text(required=True, metadata={"description": "a graph's name or an assistant's id"})
    input = AnyJson(load_default=None, allow_none=True)
    command = Nested(CommandBody, load_default=None, allow_none=True)
    config = Nested(ConfigBody, load_default=None, allow_none=True)
    context = optional(JsonObject)
    metadata = optional(JsonObject)
    stream_mode = optional(OneOrMany, *MODES)
    stream_subgraphs = optional(StrictBoolean)
    stream_resumable = optional(StrictBoolean, metadata={"description": "every stream can be resumed"})
    interrupt_before = optional(Nodes)
    interrupt_after = optional(Nodes)
    durability = optional(Choice, "sync", "async", "exit")
    checkpoint_during = optional(StrictBoolean, metadata={"description": "false: as `durability: exit`"})
    multitask_strategy = optional(Choice, *STRATEGIES)
    if_not_exists = optional(Choice, "create", "reject")
    on_disconnect = optional(Choice, "continue", "cancel")
    on_completion = optional(Choice, "delete", "keep", metadata={"description": "keep: a thread is made for the run"})
    checkpoint = Nested(CheckpointBody, load_default=None, allow_none=True)
    checkpoint_id = optional(Text)
    webhook = not_served("webhook")
    feedback_keys = optional(EmptyList, AnyJson())
    after_seconds = optional(StrictInteger, validate=between(0, LATEST))


@dataclass(frozen=True)
class RunsPage:
    """Which runs of a thread are asked for."""

    status: str | None
    limit: int
    offset: int
    select: list[str] | None


class RunsQuery(StrictInput):
    record: ClassVar[Any] = RunsPage
    status = optional(Text)
    limit = QueryInteger(load_default=10, validate=between(1, 1000))
    offset = QueryInteger(load_default=0, validate=validate.Range(0, error="must not be negative"))
    select = optional(ListOf, Choice(*KEYS))


@dataclass(frozen=True)
class Rejoin:
    """How a stream is taken up again; a checkpoint id is ignored."""

    stream_mode: list[str] | None
    cancel_on_disconnect: bool | None


class RejoinQuery(Input):
    record: ClassVar[Any] = Rejoin
    stream_mode = optional(ListOf, Choice(*MODES))
    cancel_on_disconnect = optional(QueryBoolean)


@dataclass(frozen=True)
class Cancelling:
    """How a run is cancelled."""

    wait: bool | None
    action: str | None


class CancelQuery(Input):
    record: ClassVar[Any] = Cancelling
    wait = optional(QueryBoolean)
    action = optional(Choice, "interrupt", "rollback")


@dataclass(frozen=True)
class Chosen:
    """Which runs are cancelled: some of a thread, or all of a status."""

    thread_id: str | None
    run_ids: list[str] | None
    status: str | None


class ChosenBody(Input):
    record: ClassVar[Any] = Chosen
    thread_id = optional(ThreadId)
    run_ids = optional(ListOf, Text())
    status = optional(Choice, "pending", "running", "all")

    @validates_schema
    def _one_selector(self, data: dict[str, Any], **_: Any) -> None:
        named = data["thread_id"] is not None and data["run_ids"] is not None
        if named == (data["status"] is not None) or (data["thread_id"] is None) != (data["run_ids"] is None):
            raise ValidationError("must be a thread_id with its run_ids, or a status", "status")


@dataclass(frozen=True)
class Action:
    """What becomes of the runs that are cancelled."""

    action: str | None


class ActionQuery(Input):
    record: ClassVar[Any] = Action
    action = optional(Choice, "interrupt", "rollback")


class RunAnswer(Schema):
    """One run."""

    run_id = fields.String()
    thread_id = fields.String()
    assistant_id = fields.String()
    metadata = JsonObject()
    status = fields.String(validate=validate.OneOf(STATUSES))
    kwargs = JsonObject()
    multitask_strategy = fields.String()
    created_at = fields.DateTime()
    updated_at = fields.DateTime()
    error = JsonObject(allow_none=True)
