"""Threads: the rows people list, search, archive and open; no state of a conversation lives here."""
