"""The embedded agent's state in both checkpoint modes; it decides no step of the agent.

In delta mode the reducer is replayed over stored writes in any grouping, so it folds strictly one message after the
other: reducing two batches one by one gives what reducing them at once gives.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, cast
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AnyMessage, BaseMessage, BaseMessageChunk, RemoveMessage, convert_to_messages
from langchain_core.messages.utils import message_chunk_to_message
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES, MessagesState
from typing_extensions import TypedDict

from deerflow_lite.config import Config


class FullState(MessagesState):
    """Messages whole in every checkpoint, and the plain title."""

    title: str


def state_of(config: Config) -> type[Any]:
    """Give the state class of the setting CHECKPOINT_MODE."""
    if config.checkpoint_mode == "full":
        return FullState
    channel: DeltaChannel[Any] = DeltaChannel(reduce_messages, snapshot_frequency=config.snapshot_frequency)

    class DeltaState(TypedDict):
        messages: Annotated[list[AnyMessage], channel]
        title: str

    return DeltaState


def reduce_messages(state: Sequence[Any], writes: Sequence[Any]) -> list[AnyMessage]:
    """Fold writes into messages as `add_messages` does: same id replaces in place, RemoveMessage removes.

    Unlike it, removing an id that is not there is nothing: a write that raised would make the thread unreadable.
    """
    messages: dict[str, BaseMessage] = {}
    for message in _coerced(state):
        messages[_id_of(message, messages)] = message
    for message in _coerced(_flat(writes)):
        if not isinstance(message, RemoveMessage):
            messages[_id_of(message, messages)] = message
        elif message.id == REMOVE_ALL_MESSAGES:
            messages.clear()
        else:
            messages.pop(str(message.id), None)
    return cast(list[AnyMessage], list(messages.values()))


def _flat(writes: Iterable[Any]) -> list[Any]:
    return [item for write in writes for item in (write if isinstance(write, list) else [write])]


def _coerced(items: Sequence[Any]) -> list[BaseMessage]:
    return [_whole(message) for message in convert_to_messages(items)]


def _whole(message: BaseMessage) -> BaseMessage:
    return message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message


def _id_of(message: BaseMessage, before: dict[str, BaseMessage]) -> str:
    """A message without an id gets one that every replay gives it again: of its place and its content."""
    if not message.id:
        previous = next(reversed(before), "")
        message.id = str(uuid5(NAMESPACE_OID, f"{previous}\n{len(before)}\n{message.type}\n{message.content}"))
    return message.id
