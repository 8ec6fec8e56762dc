"""The saver of a run that keeps nothing: its checkpoints live in memory and go with it; no row is read or written."""

from langgraph.checkpoint.memory import InMemorySaver


class PassingView(InMemorySaver):
    """Looks to a run as the view of a stored thread does."""

    head: str | None = None
    closed = False

    @property
    def stored(self) -> bool:
        """Say whether a checkpoint was put; a run that fails before its first step puts none."""
        return any(checkpoints for places in self.storage.values() for checkpoints in places.values())

    def awaits(self, checkpoint_ids: tuple[str, ...]) -> bool:
        """Say that no event need wait: nothing that it tells of is ever stored."""
        return False

    def check(self) -> None:
        """Nothing refuses a put."""
