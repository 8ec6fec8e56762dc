"""Graphs with every node name that the stored conversations use, in both modes; the first node may move the prompt.

A user's text decides what happens: `!ask` waits for an answer, `!boom` fails, `!talk` lets the graph speak as the user.
"""

import itertools
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.types import interrupt
from typing_extensions import TypedDict

_numbers = itertools.count(1)


class DeltaState(TypedDict):
    """Messages of which only the changes are stored, with a snapshot at every fourth."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=4)]


def _asked(state: Any) -> HumanMessage:
    return next(message for message in reversed(state["messages"]) if message.type == "human")


def pass_on(state: Any) -> dict[str, Any]:
    """Change nothing."""
    return {}


def move(state: Any) -> dict[str, Any]:
    """Give the first user message of a thread's first turn another id, and its own to a hidden reminder."""
    message = state["messages"][0]
    if message.id.endswith("__user") or message.additional_kwargs.get("hide_from_ui"):
        return {}
    reminder = HumanMessage(content="<reminder/>", id=message.id, additional_kwargs={"hide_from_ui": True})
    if len(state["messages"]) == 1:
        return {"messages": [reminder, HumanMessage(content=message.content, id=f"{message.id}__user")]}
    return {}


def model(state: Any) -> dict[str, Any]:
    """Answer with everything that the user has said, so that a test sees what the model was given."""
    heard = [m.content for m in state["messages"] if m.type == "human" and not m.additional_kwargs.get("hide_from_ui")]
    if _asked(state).content.startswith("!boom"):
        raise ValueError("boom")
    answer = AIMessage(content=" | ".join(heard), id=f"ai-{next(_numbers)}")
    if _asked(state).content.startswith("!talk"):
        return {"messages": [answer, HumanMessage(content="said by the graph", id=f"talk-{next(_numbers)}")]}
    return {"messages": [answer]}


def ask(state: Any) -> dict[str, Any]:
    """Wait for an answer where the user asked for it."""
    if _asked(state).content.startswith("!ask"):
        interrupt("go on?")
    return {}


def after(state: Any) -> dict[str, Any]:
    """Speak once more where the user asked for it."""
    if _asked(state).content.startswith("!ask"):
        return {"messages": [AIMessage(content="gone on", id=f"ai-{next(_numbers)}")]}
    return {}


def _compiled(state: Any, first: Any) -> Any:
    builder = StateGraph(state)
    nodes = (("context", first), ("model", model), ("ask", ask), ("after", after))
    names = [START, *(name for name, _ in nodes), END]
    for name, node in nodes:
        builder.add_node(name, node)
    builder.add_node("boom", pass_on)
    builder.add_edge("boom", END)
    for source, target in itertools.pairwise(names):
        builder.add_edge(source, target)
    return builder.compile()


full = _compiled(MessagesState, pass_on)
delta = _compiled(DeltaState, pass_on)
moving_full = _compiled(MessagesState, move)
moving_delta = _compiled(DeltaState, move)
