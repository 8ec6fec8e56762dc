"""A conversation of many turns in a file of its own, and the graphs that it is held with; it measures nothing."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from typing_extensions import TypedDict

from deerflow_lite.checkpoints.root import new_checkpoint_id, write_root
from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from deerflow_lite.threads.model import NewThread, Thread

MODES = ("full", "delta")
TEXT = "x" * 400
_numbers = itertools.count(1)


class DeltaState(TypedDict):
    """Messages with a snapshot at every tenth update."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=10)]


def _answering(state: Any) -> Any:
    builder = StateGraph(state)
    builder.add_node("model", lambda _: {"messages": [AIMessage(content=TEXT, id=f"ai-{next(_numbers)}")]})
    builder.add_edge(START, "model")
    builder.add_edge("model", END)
    return builder.compile()


full, delta = _answering(MessagesState), _answering(DeltaState)


@dataclass(frozen=True)
class Talk:
    """One long conversation; its user messages are u0, u1, ..."""

    gateway: Gateway
    thread: Thread
    graph: Any
    turns: int

    @property
    def head(self) -> str:
        return self.thread.head or ""

    def place(self, checkpoint_id: str) -> dict[str, Any]:
        return {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": checkpoint_id}}


@contextmanager
def talk(mode: str, turns: int, last: str = "sync") -> Iterator[Talk]:
    """Hold a conversation of three checkpoints a turn; `last` is how the last turn is stored (`exit`: in one)."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    gateway = Gateway.open(
        Config(instance=folder, graphs=f"{mode}=tests.bench.talks:{mode}", synchronous="normal"), executing=False
    )
    try:
        root = new_checkpoint_id()
        with gateway.db.writing() as connection:
            write_root(connection, "t", root, "2026-01-01T00:00:00+00:00")
        with gateway.graphs.opened(mode) as opened:
            graph = opened.copy(update={"checkpointer": gateway.rooms.savers.saver(mode, opened)})
        for number in range(turns):
            config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}, "metadata": {"run_id": f"r{number}"}}
            given = {"messages": [HumanMessage(content=TEXT, id=f"u{number}")]}
            graph.invoke(given, config, durability=last if number == turns - 1 else "sync")
        head = graph.get_state({"configurable": {"thread_id": "t"}}).config["configurable"]["checkpoint_id"]
        new = NewThread("t", {"graph_id": mode}, root=root, head=head)
        yield Talk(gateway, gateway.threads.create("default", new), graph, turns)
    finally:
        gateway.close()
        shutil.rmtree(folder)
