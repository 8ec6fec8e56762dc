"""The graphs that the exchanges were recorded with: their answers have fixed ids; `!sleep` waits at one door."""

import operator
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph import MessagesState
from langgraph.types import interrupt

from tests.runs import gates
from tests.sample_graphs import last_text, line


class Door:
    """Where slow runs wait: open unless a test shuts it."""

    gate: gates.Gate | None = None


# No docstrings: they would be descriptions in the schemas that are compared.
class ChatState(MessagesState):
    title: str


class AskState(ChatState):
    approved: bool


class CountState(MessagesState):
    n: Annotated[int, operator.add]


async def reply(state: ChatState) -> dict[str, Any]:
    """Echo the newest message; `!boom` fails, `!sleep` waits at the door."""
    messages, text = state["messages"], last_text(state["messages"])
    if text.startswith("!sleep") and Door.gate is not None:
        await Door.gate.awaited()
    if text.startswith("!boom"):
        raise ValueError(f"boom: {text}")
    model = GenericFakeChatModel(messages=iter([AIMessage(content=f"echo: {text}", id=f"ai-{len(messages)}")]))
    said = await model.ainvoke(messages)
    get_stream_writer()({"progress": "replied", "n": len(messages)})
    return {"messages": [said]}


def retitle(state: ChatState) -> dict[str, Any]:
    """Name the chat by its first user message."""
    if state.get("title"):
        return {}
    first = next((message for message in state["messages"] if message.type == "human"), None)
    return {"title": str(first.text)[:40] if first else "Untitled"}


def propose(state: AskState) -> dict[str, Any]:
    """Say that something is about to be asked."""
    return {"messages": [AIMessage(content="may I?", id=f"ask-{len(state['messages'])}")]}


def gate(state: AskState) -> dict[str, Any]:
    """Ask."""
    return {"approved": interrupt({"question": "approve?", "options": ["yes", "no"]}) == "yes"}


def act(state: AskState) -> dict[str, Any]:
    """Say what was answered."""
    return {"messages": [AIMessage(content=f"approved={state['approved']}", id=f"act-{len(state['messages'])}")]}


def nothing(state: CountState) -> dict[str, Any]:
    """Count."""
    return {"n": 1}


chat = line("chat", ChatState, ("reply", reply), ("retitle", retitle))
ask = line("ask", AskState, ("propose", propose), ("gate", gate), ("act", act))
noop = line("noop", CountState, ("nothing", nothing))
inner = line("inner", ChatState, ("reply", reply))
nested = line("nested", ChatState, ("inner", inner), ("retitle", retitle))
