"""Graphs that show what users' own graphs may do to the runner: hold, ignore a stop, dig deeper, fail half way."""

import asyncio
import operator
import sys
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt

from tests.runs import gates
from tests.sample_graphs import last_text, line, new_message_id, spoken


def said(text: str) -> AIMessage:
    return AIMessage(content=text, id=new_message_id())


async def hold(state: MessagesState) -> dict[str, Any]:
    """Stream a custom event, wait at the gate that the newest message names, echo it."""
    text = last_text(state["messages"])
    get_stream_writer()({"at": text})
    if (gate := gates.find(text)) is not None:
        await gate.awaited()
    return {"messages": [await spoken(f"echo: {text}", state["messages"])]}


async def tell(state: Any) -> dict[str, Any]:
    """Stream an answer, then wait at the gate before giving it."""
    text = last_text(state["messages"])
    said_so_far = await spoken(f"telling {text}", state["messages"])
    if (gate := gates.find(text)) is not None:
        await gate.awaited()
    return {"messages": [said_so_far]}


async def stay(state: MessagesState) -> dict[str, Any]:
    """Do not leave when told to: wait on until the gate opens."""
    gate = gates.find(last_text(state["messages"]))
    assert gate is not None
    waiting = asyncio.get_running_loop().run_in_executor(None, gate.wait)
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            gate.ignored.set()
    return {"messages": [said("stayed")]}


def sleep(state: MessagesState) -> dict[str, Any]:
    """Wait in a thread, where nothing can stop it."""
    gate = gates.find(last_text(state["messages"]))
    if gate is not None:
        gate.wait()
        gate.passed.set()
    return {"messages": [said("slept")]}


def dig(state: MessagesState) -> dict[str, Any]:
    """Wait in a thread, then run a subgraph that stores checkpoints of its own."""
    gate = gates.find(last_text(state["messages"]))
    if gate is None:
        return {"messages": deeper.invoke(state)["messages"]}
    gate.wait()
    try:
        return {"messages": deeper.invoke(state)["messages"]}
    finally:
        gate.passed.set()


def ask(name: str) -> Any:
    def node(state: "Parallel") -> dict[str, Any]:
        return {"answers": [f"{name}={interrupt({'ask': name})}"]}

    return node


def asks(state: MessagesState) -> dict[str, Any]:
    """Ask, and remember the answer; the newest message stays the newest."""
    answer = interrupt({"ask": "what"})
    return {"messages": [HumanMessage(content=last_text(state["messages"]), id=state["messages"][-1].id, name=answer)]}


def repeat(state: MessagesState) -> dict[str, Any]:
    return {"messages": [said(str(state["messages"][-2].name))]}


class Parallel(MessagesState):
    answers: Annotated[list[str], operator.add]


def emit(state: MessagesState) -> dict[str, Any]:
    """Stream as many custom events as the message says."""
    write = get_stream_writer()
    for number in range(int(last_text(state["messages"]))):
        write({"number": number})
    return {"messages": [said("emitted")]}


@dataclass
class Who:
    name: str = "nobody"


def greet(state: MessagesState, runtime: Runtime[Who]) -> dict[str, Any]:
    return {"messages": [said(f"hello {runtime.context.name if runtime.context else 'nobody'}")]}


class Work(TypedDict, total=False):
    words: list[str]
    done: Annotated[list[str], operator.add]


def upper(state: Any) -> dict[str, Any]:
    return {"done": [state["word"].upper()]}


def pick(state: Work) -> Command[str]:
    return Command(goto="second", update={"done": ["first"]})


class Counting(TypedDict, total=False):
    n: int
    notes: Annotated[list[str], operator.add]


def count(state: Counting) -> dict[str, Any]:
    return {"n": state.get("n", 0) + 1, "notes": ["counted"]}


class Numbered(MessagesState):
    title: int


class DeltaState(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=3)]


def emit_delta(state: Any) -> dict[str, Any]:
    return emit(state)


async def hold_delta(state: Any) -> dict[str, Any]:
    return await hold(state)


async def answer(state: Any) -> dict[str, Any]:
    return {"messages": [await spoken(f"echo: {last_text(state['messages'])}", state["messages"])]}


async def tumble(state: MessagesState) -> dict[str, Any]:
    """Stream an answer and fail before it is given."""
    await spoken("one two three", state["messages"])
    raise RuntimeError("half way")


def leave(state: MessagesState) -> dict[str, Any]:
    """Ask the whole process to end, as a library's command line may."""
    sys.exit(3)


async def leave_the_loop(state: MessagesState) -> dict[str, Any]:
    sys.exit(3)


def keyed(config: dict[str, Any]) -> Any:
    """Make a graph only for a caller who gives a key."""
    words = f"made with {config['configurable']['api_key']}"
    return line("keyed", MessagesState, ("say", lambda state: {"messages": [said(words)]}))


def _parallel() -> Any:
    builder = StateGraph(Parallel)
    for name in ("left", "right"):
        builder.add_node(name, ask(name))
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile(name="parallel")


def _beside() -> Any:
    """One node is done and leads on, the one beside it asks."""
    builder = StateGraph(Parallel)
    builder.add_node("done", lambda state: {"answers": ["done"]}).add_node("asks", ask("asks"))
    builder.add_node("after", lambda state: {"answers": ["after"]})
    builder.add_edge(START, "done").add_edge(START, "asks").add_edge("done", "after")
    return builder.add_edge("after", END).add_edge("asks", END).compile(name="beside")


def _sending() -> Any:
    builder = StateGraph(Work).add_node("upper", upper)
    builder.add_conditional_edges(START, lambda state: [Send("upper", {"word": word}) for word in state["words"]])
    return builder.add_edge("upper", END).compile(name="sending")


def _going() -> Any:
    builder = StateGraph(Work).add_node("first", pick, destinations=("second",))
    builder.add_node("second", lambda state: {"done": ["second"]}).add_node("other", lambda state: {"done": ["other"]})
    return builder.add_edge(START, "first").compile(name="going")


held = line("held", MessagesState, ("hold", hold))
telling = line("telling", MessagesState, ("tell", tell))
telling_delta = line("telling_delta", DeltaState, ("tell", tell))
stubborn = line("stubborn", MessagesState, ("stay", stay))
sleeper = line("sleeper", MessagesState, ("sleep", sleep))
deeper = line("deeper", MessagesState, ("say", lambda state: {"messages": [said("deep")]}))
digging = line("digging", MessagesState, ("dig", dig))
parallel = _parallel()
beside = _beside()
writer = line("writer", MessagesState, ("emit", emit))
contextual = (
    StateGraph(MessagesState, context_schema=Who)
    .add_node("greet", greet)
    .add_edge(START, "greet")
    .add_edge("greet", END)
).compile(name="contextual")
sending = _sending()
going = _going()
delta = line("delta", DeltaState, ("answer", answer))
writer_delta = line("writer_delta", DeltaState, ("emit", emit_delta))
held_delta = line("held_delta", DeltaState, ("hold", hold_delta))
nested_held = line("nested_held", MessagesState, ("inner", held), ("after", lambda state: {}))
asking_then_held = line("asking_then_held", MessagesState, ("asks", asks), ("hold", hold), ("say", repeat))
counting = line("counting", Counting, ("count", count))
numbered = line("numbered", Numbered, ("answer", answer), ("number", lambda state: {"title": len(state["messages"])}))
halfway = line("halfway", MessagesState, ("tumble", tumble))
twice = line("twice", MessagesState, ("first", answer), ("second", hold))
leaving = line("leaving", MessagesState, ("leave", leave))
leaving_the_loop = line("leaving_the_loop", MessagesState, ("leave", leave_the_loop))
