"""The first words of each turn, so that a tree can be read; it knows no lineage.

Nothing longer than `LONGEST` is given: a tree of many turns stays small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from deerflow_lite.checkpoints.messages import Message, texts, user, visible
from deerflow_lite.lifecycle.shown import Tree
from deerflow_lite.lifecycle.tree import Trees

LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Words:
    """How the question of a turn begins, and how its last answer does; "" where there is none."""

    question: str
    answer: str


def told(trees: Trees, owner: str | None, thread_id: str) -> tuple[Tree, list[Words]]:
    """Give the tree of a thread and the words of each of its turns; raises ThreadUnknown, ModeMismatch."""
    with trees.reading(owner, thread_id) as read:
        tree = read.tree()
        return tree, [_words(messages) for messages in read.messages(tree.turns)]


def _words(messages: Sequence[Message]) -> Words:
    asked = (_text(message) for message in messages if user(message))
    answered = (_text(message) for message in reversed(messages) if visible(message) and not user(message))
    return Words(next(filter(None, asked), ""), next(filter(None, answered), ""))


def _text(message: Message) -> str:
    """Give the beginning of a message's text with its white space collapsed."""
    begun = " ".join(" ".join(text[: LONGEST * 10] for text in texts(message.data.get("content"))).split())
    return begun if len(begun) <= LONGEST else begun[: LONGEST - 1].rstrip() + "…"
