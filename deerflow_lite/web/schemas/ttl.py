"""A thread's time to live, as LangGraph's clients send it."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import ValidationError

from deerflow_lite.threads.model import Ttl
from deerflow_lite.web.schemas.fields import Choice, Input, JsonObject, ListOf, optional

STRATEGIES = ("delete", "keep_latest")
MOST_MINUTES = 52_560_000


class TtlField(JsonObject):
    """`{ttl: minutes, strategy: delete | keep_latest}`."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        given = super()._deserialize(value, attr, data, **kwargs)
        minutes: Any = given.get("ttl")
        strategy: Any = given.get("strategy") or "delete"
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not math.isfinite(minutes):
            raise ValidationError("ttl must be a number of minutes")
        if not 0 < minutes <= MOST_MINUTES:
            raise ValidationError(f"ttl must be more than 0 and at most {MOST_MINUTES} minutes")
        if strategy not in STRATEGIES:
            raise ValidationError(f"strategy must be one of {', '.join(STRATEGIES)}")
        return Ttl(minutes, strategy)


@dataclass(frozen=True)
class Including:
    """What GET /threads/{thread_id} was asked for besides the thread."""

    include: list[str] | None


class IncludeQuery(Input):
    record: ClassVar[Any] = Including
    include = optional(
        ListOf, Choice("ttl"), metadata={"description": "ttl: strategy, minutes and the end of its time"}
    )
