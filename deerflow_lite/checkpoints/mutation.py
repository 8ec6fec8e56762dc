"""A state changed by hand through LangGraph's own `update_state`; what it puts is kept, and stored by the caller."""

from typing import Any

from langgraph.errors import InvalidUpdateError

from deerflow_lite.checkpoints.view import DraftView
from deerflow_lite.errors import GraphRefused


def update(graph: Any, draft: DraftView, place: dict[str, Any], values: Any, as_node: str | None) -> str:
    """Let the graph take values in as if a node had written them; gives the id of the checkpoint kept in `draft`.

    Raises GraphRefused with the graph's own reason.
    """
    try:
        made = graph.copy(update={"checkpointer": draft}).update_state({"configurable": place}, values, as_node)
    except (InvalidUpdateError, ValueError, TypeError, KeyError) as error:
        raise GraphRefused(f"values: {error}") from None
    checkpoint_id: str = made["configurable"]["checkpoint_id"]
    return checkpoint_id
