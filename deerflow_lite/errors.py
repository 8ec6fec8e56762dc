"""The tree of things that can go wrong in the domain; it knows no HTTP, `web/errors.py` gives each branch its status.

DeerflowError
 ├─ Invalid            input that cannot be accepted; `errors` maps a field to its reasons
 │   └─ TooLarge       input over a size limit
 ├─ GraphRefused       the graph itself refused what was asked (unknown node, bad value)
 ├─ NotFound           absent, or another owner's: nobody can tell which
 │   ├─ ThreadUnknown, CheckpointUnknown, RunUnknown, AssistantUnknown, MessageUnknown, TurnUnknown
 │   ├─ TokenUnknown, TokenAmbiguous
 ├─ Conflict           the state of the thread does not allow it
 │   ├─ ThreadExists (mine), ThreadIdTaken (not mine)
 │   ├─ RunActive, NothingToResume, HeadStale, ModeMismatch, ChannelLost, BranchRefused
 │   ├─ HeadUnsettled, TurnSelected
 │   ├─ ReplayRefused  a message that no turn can be replayed or branched from
 │   └─ LineageBroken  a parent link or a row that cannot be trusted
 │       ├─ ParentMissing, LineageCycle, LineageTooDeep, CheckpointUnreadable
 │       └─ TypeBlocked  a stored value of a type that is not on the allow-list
 ├─ CallerUnknown      a request without a token that opens anything
 ├─ Forbidden          a caller, host or origin that is not allowed
 ├─ Unavailable        may work later; `retry_after` in seconds
 │   ├─ QueueFull, StreamsFull, Stopping
 ├─ GraphBroken        the graph's module cannot be loaded
 ├─ SettingInvalid     the service cannot start with this setting
 └─ FileRefused        the database file cannot be used, or copied, as it is
"""

from collections.abc import Mapping, Sequence


class DeerflowError(Exception):
    """Carry one sentence that names the field or thing and the reason."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Invalid(DeerflowError):
    """Input refused; `errors` is {field: [reason, ...]}."""

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        self.errors = {field: list(reasons) for field, reasons in errors.items()}
        super().__init__("; ".join(f"{field}: {' '.join(reasons)}" for field, reasons in self.errors.items()))


class TooLarge(Invalid):
    """Input over a size limit."""


class GraphRefused(DeerflowError):
    """The graph refused the call."""


class NotFound(DeerflowError):
    """Absent, or another owner's."""


class ThreadUnknown(NotFound):
    """No such thread for this owner."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(f"thread_id: thread {thread_id} does not exist")


class CheckpointUnknown(NotFound):
    """No such checkpoint in this thread and namespace."""

    def __init__(self, checkpoint_id: str, field: str = "checkpoint_id") -> None:
        super().__init__(f"{field}: checkpoint {checkpoint_id} does not exist in this thread")


class RunUnknown(NotFound):
    """No such run in this thread."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"run_id: run {run_id} does not exist")


class AssistantUnknown(NotFound):
    """No such assistant."""

    def __init__(self, assistant_id: str) -> None:
        super().__init__(f"assistant_id: assistant {assistant_id} does not exist")


class MessageUnknown(NotFound):
    """No message of this id anywhere in the thread."""

    def __init__(self, message_id: str, field: str = "message_id") -> None:
        super().__init__(f"{field}: message {message_id} does not exist in this thread")


class TurnUnknown(NotFound):
    """No such turn in this thread."""

    def __init__(self, turn_id: str, field: str = "turn_id") -> None:
        super().__init__(f"{field}: turn {turn_id} does not exist in this thread")


class TokenUnknown(NotFound):
    """No token has an id that begins so."""

    def __init__(self, begins: str) -> None:
        super().__init__(f"token: no token has the id {begins!r}")


class TokenAmbiguous(NotFound):
    """More than one token has an id that begins so."""

    def __init__(self, begins: str, ids: Sequence[str]) -> None:
        super().__init__(f"token: {begins!r} begins more than one id: {', '.join(ids[:4])}")


class Conflict(DeerflowError):
    """The state of the thread does not allow what was asked."""


class ThreadExists(Conflict):
    """The caller already has a thread with this id."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(f"thread_id: thread {thread_id} already exists")


class ThreadIdTaken(Conflict):
    """The id belongs to somebody else; nothing more is said."""

    def __init__(self) -> None:
        super().__init__("thread_id is not available")


class RunActive(Conflict):
    """A run is pending or running on the thread."""


class NothingToResume(Conflict):
    """A resume was sent and no interrupt is pending."""


class HeadStale(Conflict):
    """The head moved since the caller saw it."""


class HeadUnsettled(Conflict):
    """Work is scheduled on the checkpoint."""

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(f"checkpoint_id: work is scheduled on checkpoint {checkpoint_id}, it cannot be selected")


class TurnSelected(Conflict):
    """The head stands in the turn or behind it."""

    def __init__(self, turn_id: str, head: str | None) -> None:
        super().__init__(f"turn_id: the head {head} stands in turn {turn_id} or behind it; select another one first")


class ModeMismatch(Conflict):
    """A thread with delta checkpoints was reached through a full graph."""


class ChannelLost(Conflict):
    """The graph lacks a channel that the head holds."""


class BranchRefused(Conflict):
    """No thread can go on from the turn that was named."""


class ReplayRefused(Conflict):
    """No turn can be replayed or branched from this message; the sentence gives the reason and the head."""


class LineageBroken(Conflict):
    """A parent link or a stored row cannot be trusted."""


class ParentMissing(LineageBroken):
    """A checkpoint that is named as a parent, or as the head, does not stand in this thread's root namespace."""

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(f"checkpoint {checkpoint_id} is named on the lineage and is not stored in this thread")


class LineageCycle(LineageBroken):
    """The parent links lead back to a checkpoint already visited."""

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(f"the parent links of checkpoint {checkpoint_id} lead back to itself")


class LineageTooDeep(LineageBroken):
    """A walk along the parents took more steps than LINEAGE_DEPTH."""

    def __init__(self, depth: int) -> None:
        super().__init__(f"the lineage has more than {depth} steps (LINEAGE_DEPTH)")


class CheckpointUnreadable(LineageBroken):
    """A stored checkpoint, or a write that its messages are made of, cannot be decoded."""

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(f"checkpoint {checkpoint_id} cannot be read")


class TypeBlocked(LineageBroken):
    """A checkpoint holds a value of a type that may not be built."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a checkpoint holds a {name}, which the graph does not name; add it to ALLOWED_TYPES")


class CallerUnknown(DeerflowError):
    """Nobody knows who asks."""


class Forbidden(DeerflowError):
    """The host, origin or caller is not allowed."""


class Unavailable(DeerflowError):
    """May work later."""

    def __init__(self, detail: str, retry_after: int = 1) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class QueueFull(Unavailable):
    """Too many runs wait."""


class StreamsFull(Unavailable):
    """Too many streams are open."""


class Stopping(Unavailable):
    """The service is about to stop."""


class GraphBroken(Conflict):
    """The graph cannot be loaded; the sentence names it and the cause."""


class SettingInvalid(DeerflowError):
    """A setting is unknown or has a bad value."""


class FileRefused(DeerflowError):
    """The database file is damaged, of a newer version, or on a disk that refuses; it was left as it is."""
