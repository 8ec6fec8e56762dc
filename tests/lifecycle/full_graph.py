"""The graph `delta` as it would be had its messages been kept whole: the same node, the other checkpoint mode."""

from langgraph.graph import MessagesState

from tests.runs.graphs import answer
from tests.sample_graphs import line

full = line("delta", MessagesState, ("answer", answer))
