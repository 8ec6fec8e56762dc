"""Another answer to a question (regenerate) and another question (edit): what is sent again, and from where.

Both find their base the same way, from the head that is required; they differ in what is sent. Nothing is written
here: the run that is started writes, and moves the head only when it succeeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from deerflow_lite import clock
from deerflow_lite.checkpoints.messages import Message, prompt, texts, visible
from deerflow_lite.errors import MessageUnknown, ReplayRefused
from deerflow_lite.lifecycle import base
from deerflow_lite.lifecycle.streamed import streamed_turn
from deerflow_lite.runs import gate
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Thread

BOOKKEEPING: Final = frozenset(
    {"run_id", "original_user_content", "hide_from_ui", "dynamic_context_reminder", "reminder_date"}
)


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay starts with: the messages to send, the checkpoint to send them to, and what they replace.

    `source_ids` are the ids of the turn's user messages as they stand; `replacement_id` is the edited one's new id.
    """

    messages: list[dict[str, Any]]
    checkpoint_id: str
    head: str
    target: str
    message_id: str
    source_ids: tuple[str, ...]
    replacement_id: str | None = None

    def metadata(self) -> dict[str, str]:
        """Give the run metadata that ties a replay to the head it was prepared for."""
        kind = "regenerate" if self.replacement_id is None else "edit"
        return {
            "head_checkpoint_id": self.head,
            f"{kind}_from_message_id": self.message_id,
            f"{kind}_from_run_id": self.target,
        }


class Replaying:
    """Prepares replays of one owner's threads."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def regenerate(self, owner: str, thread_id: str, message_id: str) -> Replay:
        """Prepare another answer in place of the one that `message_id` belongs to.

        Raises ThreadUnknown, MessageUnknown, ReplayRefused, LineageBroken, ModeMismatch.
        """
        thread = self._rooms.threads.get(owner, thread_id)
        found, head = self._base(thread, message_id)
        target = _one(found.turn, message_id)
        if target is not None and target.type != "ai":
            raise self._refused(thread, f"message {message_id} is no answer; only an answer can be regenerated")
        sent = [_again(message) for message in _asked(found.turn)]
        return self._replay(thread, found, head, message_id, sent, None)

    def edit(self, owner: str, thread_id: str, message_id: str, text: str) -> Replay:
        """Prepare the turn of a user message with another text; the other messages of the turn are sent again.

        Raises what `regenerate` raises; ReplayRefused also for a blank and for an unchanged text.
        """
        thread = self._rooms.threads.get(owner, thread_id)
        try:
            found, head = self._base(thread, message_id, streamed=False)
        except MessageUnknown:
            raise MessageUnknown(message_id, "human_message_id") from None
        target = _one(found.turn, message_id)
        if target is None or target.type != "human":
            raise self._refused(thread, f"message {message_id} is no question; only a question can be edited")
        wanted, made = text.strip(), clock.new_id()
        if not wanted:
            raise self._refused(thread, "replacement_text is blank")
        if wanted == "\n".join(texts(_again(target)["content"])).strip():
            raise self._refused(thread, "replacement_text is what the message says already")
        sent = [
            _reworded(message, wanted, made) if message.id == target.id else _again(message)
            for message in _asked(found.turn)
        ]
        return self._replay(thread, found, head, message_id, sent, made)

    def _base(self, thread: Thread, message_id: str, *, streamed: bool = True) -> tuple[base.ReplayBase, str]:
        head = thread.head
        if head is None:
            raise MessageUnknown(message_id)
        gate.refuse_mode(self._rooms, thread, gate.graph_id(self._rooms, thread))
        try:
            return base.replay_base(self._rooms, thread, message_id, head=head), head
        except MessageUnknown:
            asked = streamed_turn(self._rooms, thread, message_id) if streamed else None
            if asked is None:
                raise
        return base.replay_base(self._rooms, thread, asked, head=head), head

    def _replay(
        self,
        thread: Thread,
        found: base.ReplayBase,
        head: str,
        message_id: str,
        sent: list[dict[str, Any]],
        replacement_id: str | None,
    ) -> Replay:
        if _open_calls(found.turn):
            raise self._refused(thread, "the turn has a tool call without its result; answer or stop it first")
        ids = tuple(message.id or "" for message in _asked(found.turn))
        return Replay(sent, found.checkpoint_id, head, found.turn.turn_id, message_id, ids, replacement_id)

    def _refused(self, thread: Thread, reason: str) -> ReplayRefused:
        return ReplayRefused(f"{reason}; the head is {thread.head}")


def _one(turn: base.Turn, message_id: str) -> Message | None:
    return next((message for message in turn.messages if message.id == message_id and visible(message)), None)


def _asked(turn: base.Turn) -> list[Message]:
    return [message for message in turn.messages if message.id in turn.user_ids]


def _again(message: Message) -> dict[str, Any]:
    """Give a user message as it was first sent: its own id and none of the service's bookkeeping."""
    more = message.data.get("additional_kwargs") or {}
    content = more.get("original_user_content", message.data.get("content"))
    return {
        **_kept(message.data),
        "id": prompt(message.id or ""),
        "content": content,
        "additional_kwargs": {key: value for key, value in more.items() if key not in BOOKKEEPING},
    }


def _kept(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "human"} | ({"name": data["name"]} if data.get("name") else {})


def _reworded(message: Message, text: str, message_id: str) -> dict[str, Any]:
    """Give a user message with another text and id; its attachments stay."""
    again = _again(message)
    content = again["content"]
    if isinstance(content, list):
        others = [block for block in content if not (isinstance(block, dict) and block.get("type") == "text")]
        others = [block for block in others if not isinstance(block, str)]
        return again | {"id": message_id, "content": [{"type": "text", "text": text}, *others]}
    return again | {"id": message_id, "content": text}


def _open_calls(turn: base.Turn) -> bool:
    """Say whether the turn asked a tool that never answered."""
    answered = {message.data.get("tool_call_id") for message in turn.messages if message.type == "tool"}
    calls = [call for message in turn.messages for call in message.data.get("tool_calls") or ()]
    return any(call.get("id") not in answered for call in calls)
