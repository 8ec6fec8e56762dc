"""How a caller's request becomes a call of a graph: config, input, command and stream modes; it runs nothing."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from deerflow_lite.errors import Invalid

if TYPE_CHECKING:
    from langgraph.types import Command

COPY: Final = "__copy__"
END: Final = "__end__"  # LangGraph's own names; imported, they would cost its whole second
_OWN: Final = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map", "run_id"})


def run_config(
    given: Mapping[str, Any],
    context: Mapping[str, Any],
    fixed: Mapping[str, Any],
    metadata: Mapping[str, Any],
    limit: int,
) -> dict[str, Any]:
    """Give the RunnableConfig of a run; `fixed` configurables go over the caller's, the context is among them too.

    `limit` is the recursion limit where the caller names none; more than 1000 is capped.
    """
    asked = {key: value for key, value in (given.get("configurable") or {}).items() if not reserved(key)}
    configurable = {key: value for key, value in context.items() if not reserved(key)} | asked | dict(fixed)
    config = {
        "configurable": configurable,
        "metadata": {**(given.get("metadata") or {}), **metadata},
        "recursion_limit": min(given.get("recursion_limit") or limit, 1000),
    }
    if given.get("tags"):
        config["tags"] = list(given["tags"])
    return config


def reserved(name: str) -> bool:
    """Say whether a configurable of this name is the service's or LangGraph's own."""
    return name in _OWN or name.startswith("__pregel")


def command(given: Mapping[str, Any]) -> "Command[Any]":
    """Give LangGraph's Command of what `refuse_goto` let pass."""
    from langgraph.types import Command

    goto = [_target(one) for one in _listed(given.get("goto"))]
    return Command(update=given.get("update"), resume=given.get("resume"), goto=goto)


def asked(**given: Any) -> dict[str, Any] | None:
    """Give a command, None for one that asks for nothing: LangGraph fails on it."""
    wanted = given.get("resume") is not None or given.get("update") or _listed(given.get("goto"))
    return given if wanted else None


def refuse_goto(goto: Any, field: str = "command.goto") -> None:
    """Raise Invalid for a `goto` that names no node."""
    for one in _listed(goto):
        if not isinstance(one, str) and not (isinstance(one, dict) and isinstance(one.get("node"), str)):
            raise Invalid({field: ["must name a node, or be {node, input}"]})


def _listed(goto: Any) -> list[Any]:
    if goto is None:
        return []
    return list(goto) if isinstance(goto, list | tuple) else [goto]


def _target(one: Any) -> Any:
    from langgraph.types import Send

    return one if isinstance(one, str) else Send(one["node"], one.get("input"))


def refuse_overwrites(field: str, values: Any) -> None:
    """Raise Invalid for a channel value that LangGraph would take for its Overwrite marker."""
    for channel, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict) and ("__overwrite__" in value or value.get("type") == "__overwrite__"):
            raise Invalid({f"{field}.{channel}": ["must not be shaped like an Overwrite marker"]})


def graph_modes(modes: Iterable[str]) -> list[str]:
    """Give LangGraph's stream modes for what clients call them; `values` is always among them."""
    names = ["messages" if mode == "messages-tuple" else mode for mode in modes if mode != "events"]
    return list(dict.fromkeys([*names, "values"]))


def whole_message(message: Any) -> Any:
    """Show the chunks that came so far as the message they make."""
    from langchain_core.messages import BaseMessageChunk, message_chunk_to_message

    return message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message
