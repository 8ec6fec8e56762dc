"""The agent that is always there: a real LangGraph graph, by default over a model that needs no key and no network.

Its modules import langgraph and are imported by `Graphs.load` only.
"""
