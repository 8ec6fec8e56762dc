"""The records of a run; JSON stays text where it is only stored and shown."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

RunStatus = Literal["pending", "running", "success", "error", "timeout", "interrupted"]
STATUSES: Final = ("pending", "running", "success", "error", "timeout", "interrupted")
ACTIVE: Final = ("pending", "running")
STRATEGIES: Final = ("reject", "enqueue", "interrupt", "rollback")
MODES: Final = (
    "values", "updates", "messages", "messages-tuple", "custom", "tasks", "checkpoints", "debug", "events",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Repeat:
    """What a post is known by when it is sent again: its key, of one owner and path, and what its body was."""

    key: str
    body: str


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a caller asks for. `config` and `context` are whole here; their credentials are never stored."""

    assistant_id: str
    graph_id: str
    input: Any = None
    command: dict[str, Any] | None = None
    config: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    stream_mode: tuple[str, ...] = ("values",)
    subgraphs: bool = False
    interrupt_before: str | tuple[str, ...] | None = None
    interrupt_after: str | tuple[str, ...] | None = None
    durability: str = "async"
    strategy: str = "enqueue"
    checkpoint_id: str | None = None
    checkpoint_ns: str = ""
    temporary: bool = False
    after_seconds: int = 0
    repeat: Repeat | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run. `base` is the checkpoint it starts from, None until it starts at the head of that moment.

    `continues`: each of its root checkpoints becomes the head. `last_root` is the newest of those it has stored, and
    `start` is the checkpoint that the thread stood on as it began. Until `due_at` it waits outside the queue, then that
    is None.
    """

    row: int
    run_id: str
    thread_row: int
    thread_id: str
    owner: str
    assistant_id: str
    graph_id: str
    status: RunStatus
    created_at: str
    updated_at: str
    kwargs: str
    metadata: str
    strategy: str
    error: str | None
    base: str | None
    continues: bool
    last_root: str | None
    credentials: bool
    start: str | None = None
    due_at: str | None = None
    repeat: Repeat | None = None

    @property
    def stateless(self) -> bool:
        """Whether it has no thread: nothing of it is kept, its own row goes with its end."""
        return self.thread_row < 0

    @property
    def active(self) -> bool:
        """Whether it has the seat of its thread, or waits for it."""
        return self.status in ACTIVE and self.due_at is None


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run's log; ids count from 1 without a gap. `data` is JSON."""

    id: int
    event: str
    data: bytes
