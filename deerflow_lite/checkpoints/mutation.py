"""States written by hand through LangGraph's own `update_state`; what it puts is kept, and stored by the caller.

A chain of settled checkpoints is written through a state-only graph: one node that does nothing, entry and finish. Its
channels take each state whole in place of the one before, so no reducer of the agent's is asked and plain values are
stored; only a channel that is stored as what was written (delta) is the agent's own, and is replaced by an Overwrite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite, StateUpdate
from typing_extensions import TypedDict

from deerflow_lite.checkpoints import modes
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.checkpoints.state import snapshot
from deerflow_lite.checkpoints.view import DraftView, StoredView
from deerflow_lite.errors import CheckpointUnknown, GraphRefused, LineageBroken

LEFT_OUT: Final = frozenset({"sandbox", "thread_data"})


@dataclass(frozen=True, slots=True)
class Carried:
    """The state of one checkpoint, by channel; `settled`: nothing is scheduled there."""

    values: dict[str, Any]
    settled: bool


class ChainView(DraftView):
    """Keeps checkpoints alone: each holds its whole state, so the writes that made it would be stored in vain."""

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep nothing."""


def update(graph: Any, draft: DraftView, place: dict[str, Any], values: Any, as_node: str | None) -> str:
    """Let the graph take values in as if a node had written them; gives the id of the checkpoint kept in `draft`.

    Raises GraphRefused with the graph's own reason, LineageBroken.
    """
    try:
        made = graph.copy(update={"checkpointer": draft}).update_state({"configurable": place}, values, as_node)
    except LineageBroken:
        raise
    except Exception as error:  # whatever a user's reducer raises is the graph's own refusal
        raise GraphRefused(f"values: {error}") from None
    checkpoint_id: str = made["configurable"]["checkpoint_id"]
    return checkpoint_id


def advance(graph: Any, draft: DraftView, thread_id: str, steps: Sequence[Sequence[tuple[Any, str | None]]]) -> None:
    """Let the graph take whole supersteps in, each a list of (values or Command, node); `draft` keeps what they make.

    Raises GraphRefused with the graph's own reason.
    """
    place: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    updates = [[StateUpdate(values, as_node) for values, as_node in step] for step in steps]
    try:
        graph.copy(update={"checkpointer": draft}).bulk_update_state(place, updates)
    except Exception as error:  # as above
        raise GraphRefused(f"supersteps: {error}") from None


def carried(graph: Any, saver: FileSaver, thread_id: str, checkpoint_id: str) -> Carried:
    """Materialise a checkpoint as its step began: every channel that holds something, those outside the graph too.

    Raises CheckpointUnknown, LineageBroken.
    """
    place = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
    view = StoredView(saver, checkpoint_id)
    stored = view.get_tuple({"configurable": place})
    if stored is None:
        raise CheckpointUnknown(checkpoint_id)
    found = snapshot(graph.copy(update={"checkpointer": view}), thread_id, checkpoint_id)
    held = stored.checkpoint["channel_values"]
    plain = {name: _plain(value) for name, value in held.items() if modes.holds_state(name)}
    read = found.values if isinstance(found.values, dict) else {modes.ROOT: found.values}
    return Carried({**read, **plain}, not found.next)


def _plain(value: Any) -> Any:
    """LangGraph stores the Overwrite itself where it is the first write of a reducer that starts with nothing."""
    while isinstance(value, Overwrite | _DeltaSnapshot):
        value = value.value
    return value


def write_chain(
    graph: Any, draft: ChainView, thread_id: str, states: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]
) -> list[str]:
    """Keep settled checkpoints of a thread without any, each the child of the one before; gives their ids.

    What belongs to the place a state ran in (LEFT_OUT) is not carried. Every checkpoint gets the `metadata`.
    """
    kept = [{name: value for name, value in state.items() if name not in LEFT_OUT} for state in states]
    names = list(dict.fromkeys(name for state in kept for name in state))
    chain, node = _state_only(graph, names)
    ids: list[str] = []
    for state in kept:
        place = {"thread_id": thread_id, "checkpoint_ns": ""} | ({"checkpoint_id": ids[-1]} if ids else {})
        given = {name: _replacing(graph, name, value) for name, value in state.items()}
        config: RunnableConfig = {"configurable": place, "metadata": dict(metadata)}
        made = chain.copy(update={"checkpointer": draft}).update_state(config, given.get(modes.ROOT, given), node)
        ids.append(made["configurable"]["checkpoint_id"])
    return ids


def _state_only(graph: Any, names: Sequence[str]) -> tuple[Any, str]:
    """Compile the graph and give it with the name of its node, which no channel may have."""
    node = "branch"
    while node in names:
        node += "_"
    schema = TypedDict("State", {name: _channel(graph, name) for name in names})  # type: ignore[misc]
    builder: Any = StateGraph(schema).add_node(node, lambda state: {})
    return builder.add_edge(START, node).add_edge(node, END).compile(), node


def _channel(graph: Any, name: str) -> Any:
    """An ephemeral channel holds what was written last or nothing: no value of the state before shines through."""
    own = graph.channels.get(name)
    if isinstance(own, DeltaChannel):
        return Annotated[own.typ, own]
    return Annotated[Any, EphemeralValue(Any)]


def _replacing(graph: Any, name: str, value: Any) -> Any:
    return Overwrite(value) if isinstance(graph.channels.get(name), DeltaChannel) else value
