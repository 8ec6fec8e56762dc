"""The saver of a run that keeps nothing: its checkpoints live in memory and go with it; no row is read or written."""

from typing import Final

from langgraph.checkpoint.memory import InMemorySaver


class PassingView(InMemorySaver):
    """Looks to a run as the view of a stored thread does."""

    stored: Final = True
    head: str | None = None
    closed = False

    def awaits(self, checkpoint_ids: tuple[str, ...]) -> bool:
        """Say that no event need wait: nothing that it tells of is ever stored."""
        return False

    def check(self) -> None:
        """Nothing refuses a put."""
