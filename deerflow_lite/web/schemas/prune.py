"""What POST /threads/prune takes and answers."""

from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import Schema, fields

from deerflow_lite.web.schemas.fields import Choice, Input, ListOf, ThreadId, optional

STRATEGIES = ("delete", "keep_latest")


@dataclass(frozen=True)
class PruneThreads:
    """What POST /threads/prune was given."""

    thread_ids: list[str]
    strategy: str | None


class PruneBody(Input):
    record: ClassVar[Any] = PruneThreads
    thread_ids = ListOf(ThreadId(), required=True)
    strategy = optional(Choice, *STRATEGIES, metadata={"description": "delete where absent"})


class PruneAnswer(Schema):
    """How many of the threads were there."""

    pruned_count = fields.Integer()
