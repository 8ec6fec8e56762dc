"""Checkpoints: what LangGraph's saver stores of a conversation; no thread row and no run is known here."""
