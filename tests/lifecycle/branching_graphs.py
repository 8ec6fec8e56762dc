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

NAMES = ("full", "delta", "inside_full", "inside_delta")
GRAPHS = ",".join(f"{name}=tests.lifecycle.branching_graphs:{name}" for name in NAMES)


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


def _inside(state: Any) -> Any:
    """Give the same conversation, answered by a graph inside the graph."""
    inner = line("inner", state, ("answer", answer))
    return StateGraph(state).add_node("inner", inner).add_edge(START, "inner").add_edge("inner", END).compile()


inside_full = _inside(MessagesState)
inside_delta = _inside(DeltaMessages)
