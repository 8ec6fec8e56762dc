"""The state-only graph: what a state holds is stored whole and plain in a new chain, whatever its channels are."""

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.channels.topic import Topic
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.types import Command, Overwrite, interrupt
from typing_extensions import TypedDict

from deerflow_lite.checkpoints import mutation
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.config import Config
from deerflow_lite.errors import CheckpointUnknown
from deerflow_lite.gateway import Gateway

FULL = Annotated[list[AnyMessage], add_messages]
DELTA = Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=3)]
BOTH = pytest.mark.parametrize("mode", ["full", "delta"])


def merge(old: dict[str, int] | None, new: dict[str, int] | None) -> dict[str, int]:
    return {**(old or {}), **(new or {})}


def state(mode: str) -> Any:
    fields = {
        "messages": FULL if mode == "full" else DELTA,
        "notes": Annotated[list[str], operator.add],
        "maybe": Annotated[dict[str, int] | None, merge],
        "total": Annotated[int, operator.add],
        "topic": Annotated[list[str], Topic(str, accumulate=True)],
        "last": Annotated[str, EphemeralValue(str)],
        "plain": str,
        "sandbox": dict[str, str],
        "thread_data": Annotated[dict[str, int] | None, merge],
    }
    return TypedDict("State", fields)  # type: ignore[misc]


def model(given: Any) -> dict[str, Any]:
    number = len(given["messages"]) // 2 + 1
    return {
        "messages": [AIMessage(f"r{number}", id=f"r{number}")], "notes": [f"n{number}"], "maybe": {f"k{number}": 1},
        "total": 1, "topic": f"t{number}", "last": f"l{number}", "plain": f"p{number}", "sandbox": {"id": "box"},
        "thread_data": {"path": 1},
    }  # fmt: skip


def graph_of(schema: Any, node: Any = model) -> Any:
    return StateGraph(schema).add_node("model", node).add_edge(START, "model").add_edge("model", END).compile()


class Bench:
    """A graph on the service's own saver."""

    def __init__(self, gateway: Gateway, graph: Any) -> None:
        self.gateway, self.graph = gateway, graph
        self.saver: FileSaver = gateway.rooms.savers.saver("g", graph)
        self.run = graph.copy(update={"checkpointer": self.saver})

    def place(self, thread_id: str, checkpoint_id: str | None = None) -> Any:
        asked = {"thread_id": thread_id, "checkpoint_ns": ""}
        return {"configurable": asked | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}

    def say(self, thread_id: str, message_id: str, checkpoint_id: str | None = None) -> list[str]:
        given = {"messages": [HumanMessage(message_id, id=message_id)]}
        return [one.id for one in self.run.invoke(given, self.place(thread_id, checkpoint_id))["messages"]]

    def settled(self, thread_id: str) -> list[str]:
        """Give the settled checkpoints, oldest first."""
        found = self.run.get_state_history(self.place(thread_id))
        return [one.config["configurable"]["checkpoint_id"] for one in found if not one.next][::-1]

    def carried(self, thread_id: str, checkpoint_id: str) -> mutation.Carried:
        return mutation.carried(self.graph, self.saver, thread_id, checkpoint_id)

    def write(self, thread_id: str, *states: dict[str, Any]) -> list[str]:
        draft = mutation.ChainView(self.saver, None)
        ids = mutation.write_chain(self.graph, draft, thread_id, states, {"origin": "test"})
        with self.gateway.db.writing() as connection:
            draft.store(connection)
        return ids

    def stored(self, thread_id: str, checkpoint_id: str) -> dict[str, Any]:
        found = self.saver.get_tuple(self.place(thread_id, checkpoint_id))
        assert found is not None
        return found.checkpoint["channel_values"]

    def ids(self, thread_id: str, checkpoint_id: str) -> list[str]:
        return [one.id for one in self.run.get_state(self.place(thread_id, checkpoint_id)).values["messages"]]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    opened = Gateway.open(Config(instance=tmp_path), executing=False)
    yield opened
    opened.close()


@pytest.fixture
def bench(gateway: Gateway, mode: str) -> Bench:
    return Bench(gateway, graph_of(state(mode)))


def branch(bench: Bench) -> list[str]:
    """Talk for three turns and write the second one as a pair into a new thread."""
    for message_id in ("u1", "u2", "u3"):
        bench.say("t", message_id)
    anchor, head = bench.settled("t")[:2]
    return bench.write("b", bench.carried("t", anchor).values, bench.carried("t", head).values)


@BOTH
def test_a_pair_is_two_settled_checkpoints_the_first_without_a_parent(bench: Bench) -> None:
    anchor, head = branch(bench)
    shown = {one: bench.run.get_state(bench.place("b", one)) for one in (anchor, head)}
    assert [one.next for one in shown.values()] == [(), ()]
    assert shown[anchor].parent_config is None
    assert shown[head].parent_config["configurable"]["checkpoint_id"] == anchor
    assert bench.ids("b", anchor) == ["u1", "r1"]
    assert bench.ids("b", head) == ["u1", "r1", "u2", "r2"]
    assert [(one.metadata["source"], one.metadata["step"], one.metadata["origin"]) for one in shown.values()] == [
        ("update", 0, "test"), ("update", 1, "test"),
    ]  # fmt: skip
    with bench.gateway.db.reading() as connection:
        assert connection.execute("SELECT count(*) FROM writes WHERE thread_id = 'b'").fetchone() == (0,)


@BOTH
def test_reducer_channels_of_every_kind_hold_plain_values_once_and_sandbox_and_thread_data_are_left_out(
    bench: Bench,
) -> None:
    anchor, head = branch(bench)
    plain = {name: value for name, value in bench.stored("b", head).items() if name != "messages"}
    assert plain == {
        "notes": ["n1", "n2"], "maybe": {"k1": 1, "k2": 1}, "total": 2, "topic": ["t1", "t2"], "last": "l2",
        "plain": "p2",
    }  # fmt: skip
    assert bench.stored("b", anchor)["maybe"] == {"k1": 1}
    assert b"Overwrite" not in b"".join(
        blob for (blob,) in bench.saver.conn.execute("SELECT checkpoint FROM checkpoints WHERE thread_id = 'b'")
    )


@BOTH
def test_the_agents_graph_goes_on_from_both_checkpoints_and_leaves_them_as_they_were(bench: Bench) -> None:
    anchor, head = branch(bench)
    assert bench.say("b", "u2e", anchor) == ["u1", "r1", "u2e", "r2"]
    assert bench.say("b", "u4", head) == ["u1", "r1", "u2", "r2", "u4", "r3"]
    found = bench.run.get_state(bench.place("b")).values
    assert (found["notes"], found["maybe"], found["total"]) == (["n1", "n2", "n3"], {"k1": 1, "k2": 1, "k3": 1}, 3)
    assert (bench.ids("b", anchor), bench.ids("b", head)) == (["u1", "r1"], ["u1", "r1", "u2", "r2"])


@BOTH
def test_a_channel_outside_the_graphs_schema_is_carried_as_a_plain_value(bench: Bench, mode: str) -> None:
    bench.say("t", "u1")
    alone = {"messages": FULL if mode == "full" else DELTA}
    narrow = Bench(bench.gateway, graph_of(TypedDict("Narrow", alone)))  # type: ignore[misc]
    held = narrow.carried("t", narrow.settled("t")[-1]).values
    assert {name: value for name, value in held.items() if name != "messages"} == {
        "notes": ["n1"], "maybe": {"k1": 1}, "total": 1, "topic": ["t1"], "last": "l1", "plain": "p1",
        "sandbox": {"id": "box"}, "thread_data": {"path": 1},
    }  # fmt: skip
    [head] = narrow.write("b", held)
    assert bench.stored("b", head)["notes"] == ["n1"]
    assert bench.say("b", "u2") == ["u1", "r1", "u2", "r2"]
    assert bench.run.get_state(bench.place("b")).values["notes"] == ["n1", "n2"]


@BOTH
def test_a_channel_that_was_cleared_does_not_shine_through_from_the_checkpoint_before(bench: Bench) -> None:
    anchor, head = bench.write("b", {"plain": "old", "last": "gone"}, {"plain": "new"})
    assert bench.stored("b", anchor) == {"plain": "old", "last": "gone"}
    assert bench.stored("b", head) == {"plain": "new"}


@BOTH
def test_an_empty_state_makes_an_empty_settled_checkpoint(bench: Bench) -> None:
    anchor, head = bench.write("b", {}, {})
    assert bench.run.get_state(bench.place("b", head)).next == ()
    assert bench.say("b", "u1", anchor) == ["u1", "r1"]


@BOTH
def test_an_overwrite_that_langgraph_stored_itself_is_carried_as_its_value(bench: Bench) -> None:
    bench.run.update_state(bench.place("t"), {"maybe": Overwrite({"k": 1})}, as_node="model")
    assert bench.stored("t", bench.settled("t")[-1])["maybe"] == Overwrite({"k": 1})
    assert bench.carried("t", bench.settled("t")[-1]).values["maybe"] == {"k": 1}


@BOTH
def test_writes_that_a_command_hung_on_a_checkpoint_are_not_its_state(bench: Bench) -> None:
    bench.say("t", "u1")
    at = bench.settled("t")[-1]
    bench.run.invoke(Command(update={"plain": "later"}, goto="model"), bench.place("t"))
    assert bench.run.get_state(bench.place("t", at)).values["plain"] == "later"
    assert bench.carried("t", at).values["plain"] == "p1"


@BOTH
def test_a_checkpoint_with_scheduled_work_says_so(bench: Bench, mode: str) -> None:
    asking = Bench(bench.gateway, graph_of(state(mode), lambda given: {"plain": interrupt("?")}))
    asking.run.invoke({"messages": [HumanMessage("u1", id="u1")]}, asking.place("t"))
    head = asking.run.get_state(asking.place("t")).config["configurable"]["checkpoint_id"]
    assert not asking.carried("t", head).settled
    assert [one.id for one in asking.carried("t", head).values["messages"]] == ["u1"]


@BOTH
def test_a_checkpoint_that_is_not_stored_is_unknown_and_no_empty_state(bench: Bench) -> None:
    bench.say("t", "u1")
    with pytest.raises(CheckpointUnknown):
        bench.carried("other", bench.settled("t")[-1])


def test_a_state_of_one_bare_value_is_carried_too(gateway: Gateway) -> None:
    bench = Bench(gateway, graph_of(Annotated[list[str], operator.add], lambda given: [f"n{len(given)}"]))
    bench.run.invoke(["a"], bench.place("t"))
    [head] = bench.write("b", bench.carried("t", bench.settled("t")[-1]).values)
    assert bench.stored("b", head) == {"__root__": ["a", "n1"]}
    assert bench.run.invoke(["b"], bench.place("b")) == ["a", "n1", "b", "n3"]


@BOTH
def test_a_channel_may_have_the_name_of_the_only_node(gateway: Gateway, mode: str) -> None:
    fields = {"messages": FULL if mode == "full" else DELTA, "branch": str, "branch_": str}
    bench = Bench(gateway, graph_of(TypedDict("Named", fields)))  # type: ignore[misc]
    [head] = bench.write("b", {"branch": "x", "branch_": "y"})
    assert bench.stored("b", head) == {"branch": "x", "branch_": "y"}
