"""Runs: one execution of a graph on a thread, its seat, its log and who follows it; no HTTP."""
