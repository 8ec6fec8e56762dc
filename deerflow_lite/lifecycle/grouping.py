"""The turns that the pieces of a thread make; it decides what one turn is and reads nothing itself.

A piece that enters a user's message begins a turn, one that enters none goes on with the turn it hangs on. Where a turn
goes on a second time from the same checkpoint, the second answer is a turn of its own beside the first.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from deerflow_lite.checkpoints.messages import USER_SUFFIX, Outline, prompt, user, visible
from deerflow_lite.checkpoints.turn_ids import Names
from deerflow_lite.lifecycle.pieces import Piece


@dataclass(slots=True, eq=False)
class Grown:
    """A turn as it grows. `pieces` are its own; `parts` are (piece number, messages), those it shares too.

    `moved` are (piece number, message id): a later run may move the prompt of a turn that was never answered.
    """

    turn_id: str
    run_id: str | None
    parent: "Grown | None"
    human: str | None
    base: str | None
    pieces: list[int] = field(default_factory=list)
    parts: list[tuple[int, list[Outline]]] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    moved: list[tuple[int, str]] = field(default_factory=list)

    def unstored(self) -> bool:
        """Say whether no checkpoint of the turn holds what the user said."""
        return not any(user(message) for _, part in self.parts for message in part)

    def unanswered(self) -> bool:
        """Say whether the turn holds nothing but what a user said."""
        return all(user(message) or message.hidden for _, part in self.parts for message in part)


class Grouping:
    """Groups pieces into `turns`; `at` gives the turn that each piece ends in."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        runs: Collection[str],
        added: Callable[[int], list[Outline]],
        sent: Callable[[str], object],
        holder: Callable[[Piece, str], str],
        names: Names,
    ) -> None:
        self._runs, self._sent, self._holder, self._names = runs, sent, holder, names
        self._ids: set[str] = set()
        self._gone_on: set[int] = set()
        self.turns: list[Grown] = []
        self.at: list[Grown | None] = []
        for number, piece in enumerate(pieces):
            above = None if piece.above is None else self.at[piece.above]
            self.at.append(self._placed(number, piece, above, _own(number, above, added(number))))

    def _placed(self, number: int, piece: Piece, above: Grown | None, added: list[Outline]) -> Grown | None:
        same_run = above is not None and _goes_on(above, piece)
        asked = None if same_run or any(map(user, added)) else self._asked(piece)
        if not same_run and (asked is not None or any(map(user, added))):
            return self._begun(number, piece, above, added, asked)
        if above is None or piece.above is None:
            return None
        if piece.above in self._gone_on and (piece.run_id is not None or added):
            return self._other_answer(number, piece, above, added)
        return self._extended(number, piece, above, added)

    def _asked(self, piece: Piece) -> dict[str, object] | None:
        """Give the user's message that a run was sent and never stored; None where it was sent none."""
        given = None if piece.run_id is None else self._sent(piece.run_id)
        sent = given.get("messages") if isinstance(given, dict) else None
        for message in sent if isinstance(sent, list) else [sent]:
            if isinstance(message, dict) and _asks(message):
                return message
        return None

    def _begun(
        self, number: int, piece: Piece, above: Grown | None, added: list[Outline], asked: dict[str, object] | None
    ) -> Grown:
        if asked is not None:
            human = asked.get("id")
            return self._new(number, piece, above, human if isinstance(human, str) else None, added)
        named = {message for row, message in self._names if row in piece.rows} if self._names else set[str]()
        turn, groups = above, _groups(added, named, several=piece.run_id is None or bool(named))
        begins = piece.run_id is not None or named.intersection(message.id or "" for message in groups[0])
        if turn is not None and not begins and turn.run_id is None and turn.unanswered():
            self._extended(number, piece, turn, groups.pop(0))
        for group in groups:
            known = self._known(turn, group) if piece.above is None else None
            human = next(message.id for message in group if user(message))
            turn = known or self._new(number, piece, turn, human, group)
        assert turn is not None
        return turn

    def _known(self, above: Grown | None, group: list[Outline]) -> Grown | None:
        """Give the turn that holds just these messages: a checkpoint that lost its parent repeats what it stood on."""
        wanted = [message.id for message in group]
        same = (turn for turn in self.turns if turn.parent is above)
        return next((turn for turn in same if wanted == [each.id for _, part in turn.parts for each in part]), None)

    def _new(self, number: int, piece: Piece, above: Grown | None, human: str | None, messages: list[Outline]) -> Grown:
        return self._kept(number, Grown(*self._id(piece, human), above, human, piece.base), messages)

    def _other_answer(self, number: int, piece: Piece, first: Grown, added: list[Outline]) -> Grown:
        turn = Grown(*self._id(piece, first.human), first.parent, first.human, first.base)
        shared = [each for each, _ in first.parts].index(piece.above) + 1 if piece.above in first.pieces else 1
        turn.parts = first.parts[:shared]
        return self._kept(number, turn, added)

    def _kept(self, number: int, turn: Grown, messages: list[Outline]) -> Grown:
        self._ids.add(turn.turn_id)
        self.turns.append(turn)
        turn.pieces.append(number)
        turn.parts.append((number, messages))
        turn.runs += [turn.run_id] if turn.run_id else []
        return turn

    def _extended(self, number: int, piece: Piece, turn: Grown, messages: list[Outline]) -> Grown:
        if piece.above is not None:
            self._gone_on.add(piece.above)
        turn.pieces.append(number)
        turn.parts.append((number, messages))
        turn.runs += [piece.run_id] if piece.run_id else []
        return turn

    def _id(self, piece: Piece, human: str | None) -> tuple[str, str | None]:
        """Give the id of a turn and its run; what is recorded stands before what the checkpoints tell."""
        places = ((row, human or "") for row in piece.rows if self._names)
        name = next((self._names[place] for place in places if place in self._names), None)
        if name is not None:
            return name, name if name in self._runs else None
        if piece.run_id is not None and piece.run_id not in self._ids:
            return piece.run_id, piece.run_id
        return f"{self._holder(piece, human or '')}.{human or len(self.turns)}", piece.run_id


def _goes_on(turn: Grown, piece: Piece) -> bool:
    """A piece of the same run goes on with its turn, and so does the settled copy of what that run was sent."""
    if piece.run_id is not None:
        return piece.run_id == turn.run_id
    return turn.run_id is not None and turn.unstored()


def _own(number: int, above: Grown | None, added: list[Outline]) -> list[Outline]:
    """Give what a piece adds, without the prompts of earlier turns that it only moves: those stay their turns'."""
    own: list[Outline] = []
    for message in added:
        turn = above if message.id is not None and message.id.endswith(USER_SUFFIX) else None
        while turn is not None and prompt(turn.human or "") != prompt(message.id or ""):
            turn = turn.parent
        if turn is None:
            own.append(message)
        else:
            turn.parts.append((number, [message]))
            turn.moved.append((number, message.id or ""))
    return own


def _asks(message: Mapping[str, object]) -> bool:
    """Say whether a message as it was sent is a user's own, seen by people."""
    more = message.get("additional_kwargs")
    hidden = isinstance(more, dict) and more.get("hide_from_ui") is True
    return not hidden and (message.get("type") or message.get("role")) in ("human", "user")


def _groups(added: list[Outline], named: Collection[str], *, several: bool) -> list[list[Outline]]:
    """Split messages where a user speaks after an answer, and where a turn is named after a user's message.

    Hidden reminders go with the message behind them.
    """
    starts: list[int] = []
    answered = True
    for number, message in enumerate(added):
        if user(message) and (not starts or (several and answered) or message.id in named):
            while number and added[number - 1].hidden and added[number - 1].type in ("human", "system"):
                number -= 1
            starts.append(number)
        if user(message):
            answered = False
        elif visible(message) or message.type == "tool":
            answered = True
    starts[0] = 0
    return [added[start:end] for start, end in zip(starts, [*starts[1:], len(added)], strict=True)]
