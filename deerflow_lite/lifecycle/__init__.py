"""The lifecycle: what crosses rooms, each verb one transaction; it stores nothing of its own."""
