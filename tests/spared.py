"""A graph that tells how many objects of its process are spared from garbage collection."""

import gc

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict


class Counted(TypedDict):
    spared: int


counting = (
    StateGraph(Counted)
    .add_node("count", lambda _: {"spared": gc.get_freeze_count()})
    .add_edge(START, "count")
    .add_edge("count", END)
    .compile()
)
