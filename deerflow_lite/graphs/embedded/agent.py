"""The embedded agent's graph: context, then model and tools in turn; it keeps nothing between runs.

START -> context -> model <-> tools -> END: four checkpoints for a turn, two more for each round of tools.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode

from deerflow_lite import clock
from deerflow_lite.config import Config
from deerflow_lite.graphs.embedded.context import context_node, local_date
from deerflow_lite.graphs.embedded.model import chat_model
from deerflow_lite.graphs.embedded.state import state_of
from deerflow_lite.graphs.embedded.tools import TOOLS

if TYPE_CHECKING:
    from deerflow_lite.graphs.factories import Graph

_SYSTEM = SystemMessage(
    "You are a helpful assistant. Use the tools for the time, for arithmetic and for what was said earlier. "
    "Answer in Markdown and in the language of the user."
)


def build_agent(config: Config, today: Callable[[], date] = local_date) -> "Graph":
    """Compile the agent for the settings MODEL, CHECKPOINT_MODE and SNAPSHOT_FREQUENCY, without a checkpointer.

    Raises GraphBroken where the model's provider is not installed, and what the provider raises without its key.
    """
    builder: Any = StateGraph(state_of(config))
    builder.add_node("context", context_node(today))
    builder.add_node("model", _model_node(config))
    builder.add_node("tools", ToolNode(TOOLS))
    builder.add_edge(START, "context")
    builder.add_edge("context", "model")
    builder.add_conditional_edges("model", _next, ["tools", END])
    builder.add_edge("tools", "model")
    graph: Graph = builder.compile(name="agent")
    return graph


def _model_node(config: Config) -> RunnableLambda[Any, dict[str, Any]]:
    model = chat_model(config.model, TOOLS)

    def ask(state: Any) -> dict[str, Any]:
        return {"messages": [_fresh(model.invoke(_prompt(state["messages"])), state["messages"])]}

    async def aask(state: Any) -> dict[str, Any]:
        return {"messages": [_fresh(await model.ainvoke(_prompt(state["messages"])), state["messages"])]}

    return RunnableLambda(ask, aask, name="model")


def _prompt(messages: Sequence[AnyMessage]) -> list[BaseMessage]:
    return [_SYSTEM, *messages]


def _fresh(answer: BaseMessage, messages: Sequence[AnyMessage]) -> BaseMessage:
    """Some servers give every answer the same id; it would replace the answer of an earlier turn."""
    if answer.id and all(message.id != answer.id for message in messages):
        return answer
    return answer.model_copy(update={"id": clock.new_id()})


def _next(state: Any) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END
