"""The messages of one head as turns, from where each user message entered the lineage; it reads nothing.

A turn is the user messages entered in one run and what answers them. Where the run is unknown, adjacent user messages
are one turn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from deerflow_lite.checkpoints.fold import Held
from deerflow_lite.checkpoints.messages import USER_SUFFIX, Message, Outline, message_of, prompt, user, visible
from deerflow_lite.checkpoints.turn_ids import Names
from deerflow_lite.lifecycle.entering import Entry, Survey

Key = tuple[str, str | int]


@dataclass(frozen=True, slots=True)
class Turn:
    """The visible user messages of one run and all that answers them, on one lineage.

    `oldest` is the oldest checkpoint that holds a user message of it, `newest` the newest settled one of the turn, or
    its newest. `run_id` is None where the run is unknown.
    """

    turn_id: str
    run_id: str | None
    user_ids: tuple[str, ...]
    messages: tuple[Message, ...]
    oldest: str
    newest: str


@dataclass(frozen=True)
class Spoken:
    """The messages that a head holds, in order; user messages are numbered by their place among each other.

    `names` are the ids of turns that are recorded.
    """

    held: Held
    names: Names

    @cached_property
    def messages(self) -> list[Outline]:
        """What decides about each message."""
        return self.held.outlines

    @cached_property
    def places(self) -> list[int]:
        """Where the user messages stand that have an id."""
        return [place for place, message in enumerate(self.messages) if user(message) and message.id]

    @cached_property
    def prompts(self) -> list[str]:
        """The prompt id of each user message."""
        return [prompt(self.messages[place].id or "") for place in self.places]

    @cached_property
    def _blocks(self) -> list[int]:
        """The number of the block of adjacent user messages that each stands in."""
        blocks: list[int] = []
        end = -1
        for place in self.places:
            apart = not blocks or not all(map(_silent, self.messages[end + 1 : place]))
            blocks.append(len(blocks) if apart else blocks[-1])
            end = place
        return blocks

    def place(self, message_id: str) -> int | None:
        """Give where a message stands, None where it does not; one moved to its `__user` id is found by both."""
        ids = [message.id for message in self.messages]
        found = next((one for one in (message_id, message_id + USER_SUFFIX) if one in ids), None)
        return None if found is None else ids.index(found)

    def asked_before(self, place: int) -> int | None:
        """Give the number of the user message that a message is or answers, None where none stands before it."""
        return max((number for number, one in enumerate(self.places) if one <= place), default=None)

    def visible_before(self, message_id: str) -> list[str]:
        """Give the ids of the visible messages that stand before a message."""
        ids = [message.id for message in self.messages]
        before = self.messages[: ids.index(message_id)]
        return [message.id for message in before if message.id is not None and visible(message)]

    def enough(self, asked: int) -> Callable[[Survey], bool]:
        """Tell when a survey knows the whole turn of a user message: its run is passed, or its block is."""
        block = [key for key, one in zip(self.prompts, self._blocks, strict=True) if one == self._blocks[asked]]

        def known(found: Survey) -> bool:
            entry = found.entered.get(self.prompts[asked])
            if entry is None or entry.run_id is None:
                return entry is not None and all(key in found.entered for key in block)
            return found.run_id != entry.run_id

        return known

    def turn(self, found: Survey, asked: int) -> tuple[Turn, Entry]:
        """Give the turn of a user message, and where the first of its user messages entered."""
        keys = self._keys(found)
        numbers = [number for number, key in enumerate(keys) if key == keys[asked]]
        return self._turn(found, keys, numbers), self._oldest(found, numbers)

    def turns(self, found: Survey) -> list[Turn]:
        """Give every turn, oldest first."""
        keys = self._keys(found)
        numbers: dict[Key, list[int]] = {}
        for number, key in enumerate(keys):
            numbers.setdefault(key, []).append(number)
        return [self._turn(found, keys, each) for each in numbers.values()]

    def _oldest(self, found: Survey, numbers: list[int]) -> Entry:
        return max((found.entered[self.prompts[number]] for number in numbers), key=lambda entry: entry.step)

    def _keys(self, found: Survey) -> list[Key]:
        """Tell the turns apart: by what is recorded, by run, or by the block of messages whose runs are unknown."""
        keys: list[Key] = []
        for number, name in enumerate(self.prompts):
            entry = found.entered.get(name)
            if (known := self._named(number, entry)) is not None:
                keys.append(("turn", known))
                continue
            adjacent = bool(number) and self._blocks[number - 1] == self._blocks[number]
            together = adjacent and keys[-1][0] == "turn" and entry == found.entered.get(self.prompts[number - 1])
            if entry is not None and entry.run_id is not None and not together:
                keys.append(("run", entry.run_id))
                continue
            keys.append(keys[-1] if adjacent and keys[-1][0] != "run" else ("block", number))
        return keys

    def _named(self, number: int, entry: Entry | None) -> str | None:
        message_id = self.messages[self.places[number]].id or ""
        return None if entry is None else self.names.get((entry.checkpoint_id, message_id))

    def _turn(self, found: Survey, keys: list[Key], numbers: list[int]) -> Turn:
        key = keys[numbers[0]]
        ids = tuple(self.messages[self.places[number]].id or "" for number in numbers)
        oldest = self._oldest(found, numbers).checkpoint_id
        run_id = str(key[1]) if key[0] == "run" else None
        stood = [found.newest[number] for number in reversed(numbers) if number in found.newest]
        settled = [checkpoint_id for _, checkpoint_id in stood if checkpoint_id is not None]
        newest = [*settled, *(checkpoint_id for checkpoint_id, _ in stood), oldest][0]
        turn_id = str(key[1]) if key[0] != "block" else f"{oldest}.{ids[0]}"
        return Turn(turn_id, run_id, ids, self._said(numbers), oldest, newest)

    def _said(self, numbers: list[int]) -> tuple[Message, ...]:
        """Give the messages from each user message to the next turn's, with the hidden ones right before it."""
        entries, at = self.held.entries, self.held.row.checkpoint_id
        places = (place for number in numbers for place in range(self._begin(number), self._begin(number + 1)))
        return tuple(message_of(entries[place], at) for place in places)

    def _begin(self, number: int) -> int:
        """Give where a user message's part begins; a hidden one right before it belongs to it, as a reminder does."""
        if number == len(self.places):
            return len(self.messages)
        place = self.places[number]
        while place and _silent(self.messages[place - 1]):
            place -= 1
        return place


def _silent(message: Outline) -> bool:
    return message.type in ("human", "system") and not user(message)
