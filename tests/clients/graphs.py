"""The graphs that the clients talk to; they call no model and no network and are no part of the service.

A message `!hold PATH` stops the answer after its first word until somebody makes that file, `!boom` fails.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, AnyMessage, BaseMessage, message_chunk_to_message
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.channels.delta import DeltaChannel
from langgraph.config import get_stream_writer
from langgraph.graph.message import _messages_delta_reducer
from typing_extensions import TypedDict

from tests.sample_graphs import ChatState, ask, last_text, line, nested, new_message_id

__all__ = ["ask", "nested", "talk", "talk_delta"]
HOLD = "!hold "


class DeltaChat(TypedDict):
    """What `ChatState` has, with the changes of the messages stored and a snapshot at every fourth."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=4)]
    title: str


class Echo(BaseChatModel):
    """A chat model that says what it was told, word by word."""

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise AssertionError("it is only streamed")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        text, message_id = last_text(messages), new_message_id()
        words = ["echo:", *(f" {word}" for word in text.split())]
        for number, word in enumerate(words):
            if number == 1 and text.startswith(HOLD):
                await made(Path(text.removeprefix(HOLD)))
            place = {"chunk_position": "last"} if number == len(words) - 1 else {}
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word, id=message_id, **place))
            if run_manager is not None:
                await run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


async def made(path: Path) -> None:
    """Wait until a file is there."""
    while not path.exists():
        await asyncio.sleep(0.005)


async def reply(state: Any) -> dict[str, Any]:
    """Echo the newest message, tell of it, and name the conversation by its first message."""
    text = last_text(state["messages"])
    if text.startswith("!boom"):
        raise ValueError("boom")
    get_stream_writer()({"heard": text})
    words = [word async for word in Echo().astream(state["messages"])]
    answer = message_chunk_to_message(add_ai_message_chunks(*words))
    return {"messages": [answer], "title": state.get("title") or text[:40]}


talk = line("talk", ChatState, ("reply", reply))
talk_delta = line("talk_delta", DeltaChat, ("reply", reply))
