"""Small deterministic graphs that the tests run; they call no model and no network and are no part of the service.

Its lower-case graphs are compiled, so `GRAPHS=chat=tests.sample_graphs:chat,ask=tests.sample_graphs:ask` serves them.
Every answer has a fresh id, as a real model's has; only `chat` has a `title` channel.
"""

import asyncio
import uuid
from dataclasses import dataclass
from enum import Enum
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel


class ChatState(MessagesState):
    """Messages and a plain title."""

    title: str


class AskState(MessagesState):
    """Messages and the answer to the question that was asked."""

    approved: bool


class Mood(Enum):
    """An enumeration inside a channel."""

    CALM = "calm"
    BUSY = "busy"


class Place(BaseModel):
    """A Pydantic value of a channel."""

    name: str
    mood: Mood = Mood.CALM


@dataclass
class Step:
    """A dataclass value of a channel."""

    number: int
    place: Place | None = None


class TypedState(MessagesState):
    """Channels that hold Pydantic and dataclass values, alone and in lists."""

    place: Place
    steps: list[Step]
    places: dict[str, Place]


def new_message_id() -> str:
    """Give a fresh id for an answer."""
    return f"ai-{uuid.uuid4()}"


def last_text(messages: list[Any]) -> str:
    """Give the text of the newest message, "" when there is none."""
    return str(messages[-1].text) if messages else ""


async def spoken(text: str, messages: list[Any]) -> BaseMessage:
    """Let a fake chat model say `text`, streamed word by word."""
    model = GenericFakeChatModel(messages=iter([AIMessage(content=text, id=new_message_id())]))
    return await model.ainvoke(messages)


async def reply(state: ChatState) -> dict[str, Any]:
    """Echo the newest message; `!boom` raises, `!sleep S` waits S seconds."""
    text = last_text(state["messages"])
    if text.startswith("!boom"):
        raise ValueError("boom")
    if text.startswith("!sleep"):
        await asyncio.sleep(float(text.split()[1]))
    get_stream_writer()({"progress": "replied", "messages": len(state["messages"])})
    answer = await spoken(f"echo: {text}", state["messages"])
    title = {} if state.get("title") else {"title": text[:40] or "Untitled"}
    return {"messages": [answer], **title}


def propose(state: AskState) -> dict[str, Any]:
    """Say what is about to be asked."""
    return {"messages": [AIMessage(content="may I?", id=new_message_id())]}


def gate(state: AskState) -> dict[str, Any]:
    """Stop until somebody answers."""
    answer = interrupt({"question": "approve?", "options": ["yes", "no"]})
    return {"approved": answer == "yes"}


def act(state: AskState) -> dict[str, Any]:
    """Say what was answered."""
    return {"messages": [AIMessage(content=f"approved={state['approved']}", id=new_message_id())]}


def nothing(state: MessagesState) -> dict[str, Any]:
    """Change nothing."""
    return {}


def explode(state: MessagesState) -> dict[str, Any]:
    """Fail as a user's node may."""
    raise ValueError("boom")


async def wait(state: MessagesState) -> dict[str, Any]:
    """Wait the seconds that `!sleep S` asks for, for ever without it, then answer."""
    text = last_text(state["messages"])
    get_stream_writer()({"progress": "waiting"})
    if text.startswith("!sleep"):
        await asyncio.sleep(float(text.split()[1]))
    else:
        await asyncio.Event().wait()
    return {"messages": [await spoken(f"slept: {text}", state["messages"])]}


async def echo(state: MessagesState) -> dict[str, Any]:
    """Echo the newest message inside a subgraph."""
    return {"messages": [await spoken(f"echo: {last_text(state['messages'])}", state["messages"])]}


def settle(state: TypedState) -> dict[str, Any]:
    """Fill the typed channels; from the second turn on, use what the last one stored as real objects."""
    steps = state.get("steps") or []
    place = Place(name=f"{state['place'].name}+" if state.get("place") else "home", mood=Mood.BUSY)
    step = Step(number=steps[-1].number + 1 if steps else 1, place=place)
    answer = AIMessage(content=f"{place.name} {step.number}", id=new_message_id())
    return {"messages": [answer], "place": place, "steps": [*steps, step], "places": {place.name: place}}


def line(name: str, state: type[Any], *nodes: tuple[str, Any]) -> Any:
    """Compile a graph whose nodes run one after the other."""
    builder = StateGraph(state)
    names = [START, *(node for node, _ in nodes), END]
    for node, action in nodes:
        builder.add_node(node, action)
    for source, target in zip(names, names[1:], strict=False):
        builder.add_edge(source, target)
    return builder.compile(name=name)


chat = line("chat", ChatState, ("reply", reply))
ask = line("ask", AskState, ("propose", propose), ("gate", gate), ("act", act))
noop = line("noop", MessagesState, ("nothing", nothing))
boom = line("boom", MessagesState, ("explode", explode))
slow = line("slow", MessagesState, ("wait", wait))
inner = line("inner", MessagesState, ("echo", echo))
nested = line("nested", MessagesState, ("inner", inner), ("after", nothing))
typed = line("typed", TypedState, ("settle", settle))
