"""A graph that proves that it was given a credential without telling it: it says its digest."""

import hashlib
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from tests.runs import gates


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


async def hold(state: MessagesState) -> dict[str, Any]:
    gate = gates.find(str(state["messages"][-1].content))
    if gate is not None:
        await gate.awaited()
    return {}


def prove(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    text = state["messages"][-1].content
    if text == "ask":
        interrupt("go on?")
    if text == "fail":
        raise RuntimeError("it was to fail")
    return {"messages": [AIMessage(digest(config["configurable"]["api_key"]))]}


proving = (
    StateGraph(MessagesState)
    .add_node("hold", hold)
    .add_node("prove", prove)
    .add_edge(START, "hold")
    .add_edge("hold", "prove")
    .add_edge("prove", END)
).compile(name="proving")
