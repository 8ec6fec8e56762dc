"""The supersteps that a thread is made with."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, validate, validates_schema

from deerflow_lite.lifecycle.seeding import Step
from deerflow_lite.web.schemas.fields import AnyJson, Input, ListOf, Nested, Text, optional
from deerflow_lite.web.schemas.runs import CommandBody

MOST = 1000


def _some() -> validate.Length:
    return validate.Length(1, MOST, error="must have {min} to {max} entries")


class SuperstepUpdate(Input):
    """What one node gave: values or a command."""

    record: ClassVar[Any] = dict
    values = AnyJson(load_default=None, allow_none=True)
    command = Nested(CommandBody, load_default=None, allow_none=True)
    as_node = optional(Text, metadata={"description": "a node, __input__, __start__ or __end__"})

    @validates_schema
    def _one_of_both(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("command") is not None and data.get("values") is not None:
            raise ValidationError("cannot go with values", "command")


class Superstep(Input):
    """What the nodes of one step gave."""

    record: ClassVar[Any] = dict
    updates = ListOf(Nested(SuperstepUpdate), required=True, validate=_some())


class Supersteps(ListOf):
    """Steps in their order; each update knows its place among them."""

    def __init__(self, **kwargs: Any) -> None:
        limit = validate.Length(max=MOST, error="must not have more than {max} entries")
        super().__init__(Nested(Superstep), validate=limit, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        steps: Any = super()._deserialize(value, attr, data, **kwargs)
        return [
            [Step(f"{attr}.{number}.updates.{place}", **update) for place, update in enumerate(step["updates"])]
            for number, step in enumerate(steps)
        ]
