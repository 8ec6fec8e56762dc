"""The record of an assistant, the name under which clients reach a graph; it loads nothing."""

from dataclasses import dataclass
from uuid import UUID, uuid5

_NAMESPACE = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True)
class Assistant:
    """One graph as clients see it; `error` says in one line why it cannot run, None while it can or is not loaded."""

    assistant_id: str
    graph_id: str
    name: str
    error: str | None
    created_at: str


def assistant_id_of(graph_id: str) -> str:
    """Give the id that LangGraph's own server gives the default assistant of a graph."""
    return str(uuid5(_NAMESPACE, graph_id))
