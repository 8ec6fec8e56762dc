"""The graphs that can be run: the user's own and the embedded agent.

It stores nothing and knows no thread. Nothing here imports langgraph before `Graphs.load`.
"""
