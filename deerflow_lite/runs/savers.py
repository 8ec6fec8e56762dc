"""The savers, one a graph: each decodes only the types that its graph may hold; none is made before it is needed."""

import copy
import threading
from typing import TYPE_CHECKING, Any, Self

from deerflow_lite.db import Database
from deerflow_lite.graphs import channels
from deerflow_lite.journal import Journal

if TYPE_CHECKING:
    from deerflow_lite.checkpoints.passing import PassingView
    from deerflow_lite.checkpoints.run_view import RunView
    from deerflow_lite.checkpoints.saver import FileSaver
    from deerflow_lite.runs.seat import Seat


class Savers:
    """Gives a graph its saver; `allowed_types` are `module:Class` names for all graphs."""

    def __init__(self, db: Database, journal: Journal, allowed_types: tuple[str, ...]) -> None:
        self._db, self._journal = db, journal
        self._allowed = [tuple(name.split(":", 1)) for name in allowed_types]
        self._made: dict[str, FileSaver] = {}
        self._lock = threading.Lock()

    def saver(self, graph_id: str, graph: Any) -> "FileSaver":
        """Give the saver of a graph."""
        from deerflow_lite.checkpoints.saver import FileSaver

        with self._lock:
            if graph_id not in self._made:
                self._made[graph_id] = FileSaver(self._db, [*channels.message_types(graph), *self._allowed])
            return self._made[graph_id]

    def remembering(self) -> Self:
        """Give them for one verb that reads many states of a thread: messages that these share are built once."""
        clone = copy.copy(self)
        with self._lock:
            clone._made = {graph_id: saver.remembering() for graph_id, saver in self._made.items()}
        return clone

    def reading(self, graph_id: str, graph: Any, head: str | None, *, many: bool = False) -> Any:
        """Give the graph as a reader sees it who stands on this head; `many` states are read at once and shown."""
        from deerflow_lite.checkpoints.view import HeadView

        saver = self.saver(graph_id, graph)
        return graph.copy(update={"checkpointer": HeadView(saver.remembering() if many else saver, head)})

    def passing(self, graph_id: str, graph: Any) -> "tuple[Any, PassingView]":
        """Give the graph as a run sees it that keeps nothing, and the memory that goes with it."""
        from deerflow_lite.checkpoints.passing import PassingView

        view = PassingView(serde=self.saver(graph_id, graph).serde)
        return graph.copy(update={"checkpointer": view}), view

    def running(
        self, graph_id: str, graph: Any, head: str | None, seat: "Seat", *, sync: bool
    ) -> "tuple[Any, RunView]":
        """Give the graph as a run sees it, and the view that its writes go through."""
        from deerflow_lite.checkpoints.run_view import RunView

        saver = self.saver(graph_id, graph)
        view = RunView(saver, self._journal, head, seat.allowed, seat.stored, seat.trail, sync=sync)
        return graph.copy(update={"checkpointer": view}), view
