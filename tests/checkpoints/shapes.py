"""Graphs of every shape whose scheduled work a stored row must tell; each comes with the inputs it is run with."""

import operator
from typing import Annotated, Any

from langgraph.channels import LastValue
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import NodeBuilder, Pregel
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict


class State(TypedDict):
    """What the nodes said."""

    said: Annotated[list[str], operator.add]


def say(name: str) -> Any:
    """Make a node that says its name."""
    return lambda state: {"said": [name]}


def ask(state: State) -> dict[str, Any]:
    """Wait for an answer."""
    return {"said": [interrupt("who?")]}


def fail(state: State) -> dict[str, Any]:
    """Fail."""
    raise ValueError("boom")


def spread(state: State) -> list[Send]:
    """Send to one node several times."""
    return [Send("part", {"said": [str(number)]}) for number in range(3)]


def jump(state: State) -> Command[Any]:
    """Go on where no edge leads."""
    return Command(update={"said": ["jumped"]}, goto="last")


def again(state: State) -> str:
    """Loop three times."""
    return "a" if len(state["said"]) < 3 else END


def compiled(nodes: dict[str, Any], edges: list[tuple[Any, str]], saver: Any, **more: Any) -> Any:
    """Compile a graph; a node whose name begins with `late` is deferred."""
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node, defer=name.startswith("late"))
    for source, target in edges:
        if callable(target):
            builder.add_conditional_edges(source, target)
        else:
            builder.add_edge(source, target)
    return builder.compile(checkpointer=saver, **more)


def a_line(saver: Any) -> Any:
    return compiled({"a": say("a"), "b": say("b")}, [(START, "a"), ("a", "b"), ("b", END)], saver)


def a_join(saver: Any) -> Any:
    nodes = {name: say(name) for name in ("a", "b", "b2", "c+d", "end")}
    edges = [(START, "a"), (START, "b"), (START, "c+d"), ("b", "b2"), (["a", "b2", "c+d"], "end"), ("end", END)]
    return compiled(nodes, edges, saver)


def a_late_join(saver: Any) -> Any:
    nodes = {name: say(name) for name in ("a", "b", "b2", "late", "late_too")}
    edges = [(START, "a"), (START, "b"), ("b", "b2"), ("a", "late"), (["a", "b2"], "late_too"), ("late", END)]
    return compiled(nodes, edges, saver)


def a_question_beside(saver: Any) -> Any:
    nodes = {"a": say("a"), "ask": ask, "end": say("end")}
    return compiled(nodes, [(START, "a"), (START, "ask"), (["a", "ask"], "end"), ("end", END)], saver)


def a_failure_beside(saver: Any) -> Any:
    return compiled({"a": say("a"), "fail": fail}, [(START, "a"), (START, "fail"), ("a", END)], saver)


def a_spread(saver: Any) -> Any:
    return compiled({"a": say("a"), "part": say("part")}, [(START, "a"), ("a", spread), ("part", END)], saver)


def a_jump(saver: Any) -> Any:
    return compiled({"jump": jump, "last": say("last")}, [(START, "jump"), ("last", END)], saver)


def a_loop(saver: Any) -> Any:
    return compiled({"a": say("a")}, [(START, "a"), ("a", again)], saver)


def a_stop_before(saver: Any) -> Any:
    nodes = {"a": say("a"), "b": say("b")}
    return compiled(nodes, [(START, "a"), ("a", "b"), ("b", END)], saver, interrupt_before=["b"])


def a_stop_after(saver: Any) -> Any:
    nodes = {"a": say("a"), "b": say("b")}
    return compiled(nodes, [(START, "a"), ("a", "b"), ("b", END)], saver, interrupt_after=["b"])


def a_subgraph(saver: Any) -> Any:
    inner = compiled({"in": say("in")}, [(START, "in"), ("in", END)], None)
    return compiled({"sub": inner, "b": say("b")}, [(START, "sub"), ("sub", "b"), ("b", END)], saver)


@task
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def a_function(saver: Any) -> Any:
    @entrypoint(checkpointer=saver)
    def work(given: dict[str, Any]) -> dict[str, Any]:
        loud = shout(str(given["said"])).result()
        return {"said": [loud, interrupt("who?")]}

    return work


SHAPES = (
    a_line, a_join, a_late_join, a_question_beside, a_failure_beside, a_spread, a_jump, a_loop, a_stop_before,
    a_stop_after, a_subgraph, a_function,
)  # fmt: skip


def custom(saver: Any) -> Pregel:
    """Make a graph of channels alone: no name in its rows tells what triggers what."""
    first = NodeBuilder().subscribe_only("given").do(lambda text: text + "!").write_to("middle")
    last = NodeBuilder().subscribe_only("middle").do(lambda text: text + "?").write_to("end")
    return Pregel(
        nodes={"first": first, "last": last},
        channels={name: LastValue(str) for name in ("given", "middle", "end")},
        input_channels=["given"],
        output_channels=["end"],
        checkpointer=saver,
    )
