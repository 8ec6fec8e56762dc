"""The conversation that a head stands for, turn by turn, a page at a time; turns beside its path are not shown."""

from dataclasses import dataclass
from typing import Any

from deerflow_lite.errors import HeadStale, TurnUnknown
from deerflow_lite.lifecycle.shown import TreeTurn
from deerflow_lite.lifecycle.tree import Trees


@dataclass(frozen=True, slots=True)
class TurnsPage:
    """Turns with their messages as stored, the newest last; `more`: older ones are left."""

    turns: list[tuple[TreeTurn, list[dict[str, Any]]]]
    more: bool


def page(trees: Trees, owner: str | None, thread_id: str, before: str | None, limit: int) -> TurnsPage:
    """Give the last turns of the selected path, those before a turn of it where one is named.

    Raises ThreadUnknown, ModeMismatch, ParentMissing, TurnUnknown; HeadStale for a turn beside the selected path.
    """
    with trees.reading(owner, thread_id) as read:
        path = read.path()
        if before is not None:
            places = [number for number, turn in enumerate(path) if turn.turn_id == before]
            if not places and not any(turn.turn_id == before for turn in read.turns):
                raise TurnUnknown(before, "before")
            if not places:
                raise HeadStale(f"before: turn {before} is not on the selected path; the head is {read.thread.head}")
            path = path[: places[0]]
        shown = path[-limit:]
        messages = read.messages(shown)
    whole = [(turn, [message.data for message in said]) for turn, said in zip(shown, messages, strict=True)]
    return TurnsPage(whole, len(shown) < len(path))
