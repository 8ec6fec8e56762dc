"""The requests and answers about items of the store."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, ValidationError, fields, validate

from deerflow_lite.threads.limits import text_fault
from deerflow_lite.web.schemas.fields import (
    AnyJson,
    Input,
    JsonObject,
    ListOf,
    StrictInteger,
    Text,
    Told,
    between,
    optional,
)

LONGEST_TTL = 60 * 24 * 366 * 1000


class Name(Text):
    """The key of an item."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        fault = text_fault(text) if text else "must not be empty"
        if fault is not None:
            raise ValidationError(fault)
        return text


class Label(Name):
    """One part of a namespace."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if "." in text:
            raise ValidationError("must not hold a dot: it separates the parts")
        return text


class Dotted(Name):
    """A namespace in a query: its parts joined by dots."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        parts = super()._deserialize(value, attr, data, **kwargs).split(".")
        if not all(parts):
            raise ValidationError("must not hold an empty part")
        return parts


class Minutes(Told):
    """A time to live: more than none, and no longer than a thousand years."""

    default_error_messages = {"invalid": f"must be a number of minutes over 0 and up to {LONGEST_TTL}"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and math.isfinite(value) and 0 < value <= LONGEST_TTL:
            return float(value)
        raise self.make_error("invalid")


def namespace(**kwargs: Any) -> Any:
    """Make the field of a namespace that must be given."""
    return ListOf(Label(), required=True, validate=validate.Length(1, error="must not be empty"), **kwargs)


@dataclass(frozen=True)
class ItemPut:
    """What PUT /store/items was given."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    index: Any
    ttl: float | None


class ItemPutBody(Input):
    record: ClassVar[Any] = ItemPut
    namespace = namespace()
    key = Name(required=True)
    value = JsonObject(required=True)
    index = AnyJson(load_default=None, allow_none=True, metadata={"description": "ignored: nothing is embedded"})
    ttl = optional(Minutes, metadata={"description": "minutes until the item is gone; absent: it stays"})


@dataclass(frozen=True)
class ItemName:
    """Which item is meant."""

    namespace: list[str]
    key: str


class ItemNameBody(Input):
    record: ClassVar[Any] = ItemName
    namespace = namespace()
    key = Name(required=True)


class ItemQuery(Input):
    record: ClassVar[Any] = ItemName
    namespace = Dotted(required=True, metadata={"description": "its parts joined by dots"})
    key = Name(required=True)


@dataclass(frozen=True)
class ItemSearch:
    """What POST /store/items/search was given."""

    namespace_prefix: list[str] | None
    filter: dict[str, Any] | None
    query: str | None
    limit: int
    offset: int


class ItemSearchBody(Input):
    record: ClassVar[Any] = ItemSearch
    namespace_prefix = optional(ListOf, Label(), metadata={"description": "absent: all items"})
    filter = optional(JsonObject, metadata={"description": "key: value; or key: {$eq, $ne, $gt, $gte, $lt, $lte}"})
    query = optional(Text, metadata={"description": "ignored: nothing is embedded"})
    limit = StrictInteger(load_default=10, validate=between(1, 1000))
    offset = StrictInteger(load_default=0, validate=validate.Range(0, error="must not be negative"))


@dataclass(frozen=True)
class NamespaceSearch:
    """What POST /store/namespaces was given."""

    prefix: list[str] | None
    suffix: list[str] | None
    max_depth: int | None
    limit: int
    offset: int


class NamespaceSearchBody(Input):
    record: ClassVar[Any] = NamespaceSearch
    prefix = optional(ListOf, Label(), metadata={"description": "* stands for any one part"})
    suffix = optional(ListOf, Label(), metadata={"description": "* stands for any one part"})
    max_depth = optional(StrictInteger, validate=between(1, 100), metadata={"description": "cut to so many parts"})
    limit = StrictInteger(load_default=100, validate=between(1, 1000))
    offset = StrictInteger(load_default=0, validate=validate.Range(0, error="must not be negative"))


class ItemAnswer(Schema):
    """One item."""

    namespace = fields.List(fields.String())
    key = fields.String()
    value = JsonObject()
    created_at = fields.DateTime()
    updated_at = fields.DateTime()


class FoundItem(ItemAnswer):
    """One item of a search; nothing is embedded, so none has a score."""

    score = fields.Float(allow_none=True)


class ItemsAnswer(Schema):
    """One page of items."""

    items = fields.List(fields.Nested(FoundItem))


class NamespacesAnswer(Schema):
    """One page of namespaces."""

    namespaces = fields.List(fields.List(fields.String()))
