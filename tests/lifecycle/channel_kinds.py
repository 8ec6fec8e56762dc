"""Graphs whose state has a channel of every kind, in both checkpoint modes."""

from tests.checkpoints.test_mutation import graph_of, state

GRAPHS = ",".join(f"{name}=tests.lifecycle.channel_kinds:{name}" for name in ("full", "delta"))

full = graph_of(state("full"))
delta = graph_of(state("delta"))
