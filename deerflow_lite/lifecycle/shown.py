"""The records of a thread's turns, as they are shown; they hold no rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from deerflow_lite.checkpoints.family import Broken

TurnStatus = Literal["done", "failed", "interrupted", "running"]
ENDED: Final[Mapping[str, TurnStatus]] = {"error": "failed", "timeout": "failed", "interrupted": "interrupted"}


@dataclass(frozen=True, slots=True)
class TreeTurn:
    """One turn. `checkpoint_id` is its newest settled checkpoint, or its newest; `base_checkpoint_id` its parent."""

    turn_id: str
    parent_turn_id: str | None
    human_message_id: str | None
    message_ids: tuple[str, ...]
    checkpoint_id: str
    base_checkpoint_id: str | None
    run_id: str | None
    created_at: str | None
    status: TurnStatus
    sibling_index: int
    sibling_count: int
    on_selected_path: bool

    def as_json(self) -> dict[str, object]:
        """Give the fields as clients know them; `asdict` would copy every value."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Tree:
    """Every turn of a thread, parents first."""

    turns: tuple[TreeTurn, ...]
    head_checkpoint_id: str | None
    broken: tuple[Broken, ...]
