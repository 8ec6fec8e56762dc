"""The same conversation in both checkpoint modes: an echo that may fail, ask back or wait; it calls no model."""

from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.types import interrupt
from typing_extensions import TypedDict

from tests.runs import gates
from tests.sample_graphs import last_text, line, new_message_id

GRAPHS = ",".join(f"{name}=tests.lifecycle.branching_graphs:{name}" for name in ("full", "delta", "inside"))


class DeltaMessages(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=4)]


async def answer(state: Any) -> dict[str, Any]:
    """Echo; `!boom` raises, `!ask` asks back, `!hold NAME` waits at a gate."""
    text = last_text(state["messages"])
    if text.startswith("!boom"):
        raise ValueError("boom")
    if text.startswith("!ask"):
        text = f"{text} {interrupt('which?')}"
    if (gate := gates.find(text)) is not None:
        await gate.awaited()
    return {"messages": [AIMessage(content=f"echo: {text}", id=new_message_id())]}


full = line("full", MessagesState, ("answer", answer))
delta = line("delta", DeltaMessages, ("answer", answer))
inside = (
    StateGraph(MessagesState)
    .add_node("inner", line("inner", MessagesState, ("answer", answer)))
    .add_edge(START, "inner")
    .add_edge("inner", END)
    .compile(name="inside")
)
