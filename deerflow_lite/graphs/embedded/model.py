"""The chat models of the embedded agent: the offline demonstration model, and real ones by `provider:name`.

The offline model needs no key and no network. The chunks it streams carry the id of the whole message.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from deerflow_lite import clock
from deerflow_lite.errors import GraphBroken
from deerflow_lite.graphs.embedded.answers import answer, tool_call

_EXTRAS = ("openai", "ollama")


class OfflineModel(BaseChatModel):
    """A chat model that answers by fixed rules and says so."""

    tools: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "offline-demonstration"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Give this model with tools that it may call."""
        names = tuple(str(convert_to_openai_tool(one)["function"]["name"]) for one in tools)
        return self.model_copy(update={"tools": names})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = tool_call(messages, self.tools)
        calls = [{"name": call[0], "args": call[1], "id": clock.new_id(), "type": "tool_call"}] if call else []
        message = AIMessage(content="" if call else answer(messages), id=clock.new_id(), tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, self.tools):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, self.tools):
            # One turn of the loop a word, so that a long answer holds up no other run and can be cancelled.
            await asyncio.sleep(0)
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


def _chunks(messages: Sequence[BaseMessage], tools: Sequence[str]) -> Iterator[ChatGenerationChunk]:
    message_id = clock.new_id()
    call = tool_call(messages, tools)
    if call:
        part = tool_call_chunk(name=call[0], args=json.dumps(call[1]), id=clock.new_id(), index=0)
        yield _chunk(AIMessageChunk(content="", id=message_id, tool_call_chunks=[part], chunk_position="last"))
        return
    words = re.findall(r"\s*\S+|\s+", answer(messages))
    for word in words[:-1]:
        yield _chunk(AIMessageChunk(content=word, id=message_id))
    # Without the mark LangChain adds an empty chunk of its own, under another id.
    yield _chunk(AIMessageChunk(content=words[-1], id=message_id, chunk_position="last"))


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)


def chat_model(setting: str, tools: Sequence[BaseTool]) -> Runnable[LanguageModelInput, AIMessage]:
    """Give the model of the setting MODEL with the tools bound.

    Raises GraphBroken, naming what to install, where the provider's package is missing.
    """
    if setting == "offline":
        return OfflineModel().bind_tools(tools)
    provider = setting.partition(":")[0]
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(setting).bind_tools(tools)
    except ImportError:
        package = f"deerflow-lite[{provider}]" if provider in _EXTRAS else f"langchain langchain-{provider}"
        raise GraphBroken(f"MODEL={setting} needs a package that is not installed: pip install {package!r}") from None
