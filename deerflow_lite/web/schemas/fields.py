"""The field types of requests: strict about JSON types, since a guessed type answers another question.

They hold no field of any endpoint. Absent and null are one for most fields (`null=True`), and views see None.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, post_load, validate

from deerflow_lite.errors import Invalid
from deerflow_lite.threads.limits import creatable_id, valid_id
from deerflow_lite.threads.titles import TITLE_CHARACTERS, clean_title

ID_PATTERN = "^[A-Za-z0-9_-]{1,64}$"
WORDS = {"true": True, "1": True, "false": False, "0": False}


class Input(Schema):
    """The base of every request schema: loads into `record`; unknown fields are ignored."""

    record: ClassVar[Any] = dict
    error_messages: dict[str, str] = {"unknown": "unknown field", "type": "must be an object"}

    class Meta:
        unknown = EXCLUDE

    @post_load
    def _recorded(self, data: dict[str, Any], **_: Any) -> Any:
        return self.record(**data)


class StrictInput(Input):
    """A request schema that refuses unknown fields: a mistyped filter must not answer a wider question."""

    class Meta(Input.Meta):
        unknown = RAISE


class Told(fields.Field[Any]):
    """What every field says of null and of absence."""

    default_error_messages = {"null": "must not be null", "required": "is required"}


class Nested(Told, fields.Nested):
    """A JSON object with a schema of its own."""


class StrictBoolean(Told, fields.Boolean):
    """JSON true or false; not 1, not "true"."""

    default_error_messages = {"invalid": "must be true or false"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if isinstance(value, bool):
            return value
        raise self.make_error("invalid")


class StrictInteger(Told, fields.Integer):
    """A JSON whole number; not true, not 1.0, not "1"."""

    default_error_messages = {"invalid": "must be a whole number"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self.make_error("invalid")


class Text(Told, fields.String):
    """A JSON string."""

    default_error_messages = {"invalid": "must be a string"}


class Choice(Text):
    """A string out of a few."""

    def __init__(self, *words: str, **kwargs: Any) -> None:
        super().__init__(validate=validate.OneOf(words, error="must be one of {choices}"), **kwargs)


class JsonObject(Told):
    """A JSON object of any content."""

    default_error_messages = {"invalid": "must be an object"}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        raise self.make_error("invalid")


class AnyJson(Told, fields.Raw):
    """Any JSON value."""


class ListOf(Told, fields.List[Any]):
    """A JSON list whose items are all of one field type."""

    default_error_messages = {"invalid": "must be a list"}


def proven(rule: Callable[[str], str], text: str) -> str:
    """Ask a rule of the domain, which gives the text back or raises Invalid; here that is a reason of the field."""
    try:
        return rule(text)
    except Invalid as error:
        raise ValidationError([reason for reasons in error.errors.values() for reason in reasons]) from None


class ThreadId(Text):
    """An id that a thread may have."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"metadata": {"pattern": ID_PATTERN} | kwargs.get("metadata", {})})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if valid_id(text):
            return text
        raise ValidationError("must be 1 to 64 of the characters A-Z, a-z, 0-9, _ and -")


class NotBlank(Text):
    """A string that is more than white space."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if text.strip():
            return text
        raise ValidationError("must not be blank")


class NewThreadId(ThreadId):
    """An id that a new thread may get: the words of our own paths are taken."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        return proven(creatable_id, Text._deserialize(self, value, attr, data, **kwargs))


class Title(Text):
    """A title set by hand: trimmed, 1 to 256 characters, no control characters."""

    def __init__(self, **kwargs: Any) -> None:
        limits = {"minLength": 1, "maxLength": TITLE_CHARACTERS}
        super().__init__(**kwargs | {"metadata": limits | kwargs.get("metadata", {})})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        return proven(clean_title, super()._deserialize(value, attr, data, **kwargs))


class Time(Text):
    """An ISO-8601 time with offset; loads as the text of `clock.now()`, so that text order is time order."""

    default_error_messages = {"time": "must be an ISO-8601 time with offset"}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                raise self.make_error("time")
            return moment.astimezone(UTC).isoformat(timespec="microseconds")
        except (ValueError, OverflowError):
            raise self.make_error("time") from None


class QueryBoolean(fields.Boolean):
    """true, false, 1 or 0 in a query string."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if str(value).lower() in WORDS:
            return WORDS[str(value).lower()]
        raise ValidationError("must be true or false")


class QueryInteger(fields.Integer):
    """A whole number in a query string."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> int:
        if re.fullmatch(r"-?[0-9]{1,18}", str(value)):
            return int(value)
        raise ValidationError("must be a whole number")


def optional(kind: type[Any], *args: Any, **kwargs: Any) -> Any:
    """Make a field whose null is the same as its absence."""
    return kind(*args, load_default=None, allow_none=True, **kwargs)


def between(low: int, high: int) -> validate.Range:
    """Allow whole numbers from `low` to `high`."""
    return validate.Range(low, high, error="must be from {min} to {max}")


def not_served(name: str) -> Any:
    """Refuse a field of LangGraph's that is not served, unless it is null."""

    def refuse(value: Any) -> None:
        if value is not None:
            raise ValidationError(f"{name} is not served")

    return AnyJson(load_default=None, allow_none=True, validate=refuse, metadata={"description": "not served"})
