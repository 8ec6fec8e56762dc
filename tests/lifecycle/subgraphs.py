"""A graph whose subgraph asks a question."""

from tests.sample_graphs import AskState, act, ask, line

asking = line("asking", AskState, ("inner", ask), ("after", act))
