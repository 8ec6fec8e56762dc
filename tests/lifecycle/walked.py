"""The replay base by the long way: every ancestor read with `get_state` through the saver's own `parent_config`.

It shares no line with the resolver: what the two say must be the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NULL_TASK = "00000000-0000-0000-0000-000000000000"
Place = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One ancestor as LangGraph gives it."""

    checkpoint_id: str
    messages: list[Any]
    pending: bool
    waits: tuple[str, ...]
    run_id: str | None

    def prompts(self) -> set[str]:
        return {_prompt(message.id) for message in self.messages}


@dataclass
class Walked:
    """The ancestors of one thread's checkpoints; snapshots are read once."""

    graph: Any
    thread_id: str

    def __post_init__(self) -> None:
        self._known: dict[str, tuple[Step, Place | None]] = {}

    def chain(self, head: str) -> list[Step]:
        return [*self._steps(head)]

    def _steps(self, head: str) -> Iterator[Step]:
        wanted: Place | None = {"thread_id": self.thread_id, "checkpoint_ns": "", "checkpoint_id": head}
        while wanted is not None:
            checkpoint_id = wanted["checkpoint_id"]
            if checkpoint_id not in self._known:
                self._known[checkpoint_id] = self._read(wanted)
            step, wanted = self._known[checkpoint_id]
            yield step

    def _read(self, place: Place) -> tuple[Step, Place | None]:
        found = self.graph.get_state({"configurable": place})
        stored = self.graph.checkpointer.get_tuple({"configurable": place})
        # `get_state` shows what a Command wrote on the row; the checkpoint itself holds it only from its child on.
        given = [(name, value) for task_id, name, value in stored.pending_writes if task_id == NULL_TASK]
        later = {one.id for name, value in given if name == "messages" for one in value}
        parent = stored.parent_config
        step = Step(
            place["checkpoint_id"],
            [one for one in found.values.get("messages", []) if one.id not in later],
            bool(found.next),
            found.next,
            found.metadata.get("run_id"),
        )
        return step, parent and parent["configurable"]

    def commanded(self, checkpoint_id: str) -> bool:
        place = {"thread_id": self.thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
        writes = self.graph.checkpointer.get_tuple({"configurable": place}).pending_writes
        return any(task_id == NULL_TASK for task_id, _, _ in writes)

    def turns(self, head: str) -> list[list[str]]:
        """Give the user ids of every turn of a head."""
        chain = self.chain(head)
        groups: list[tuple[Any, list[str]]] = []
        adjacent = False
        for message in chain[0].messages:
            if _shown(message, "human"):
                run = self._run(chain, message.id)
                same = [ids for key, ids in groups if run is not None and key == run]
                if run is None and adjacent and groups[-1][0] is None:
                    same = [groups[-1][1]]
                if same:
                    same[0].append(message.id)
                else:
                    groups.append((run, [message.id]))
                adjacent = True
            elif message.type not in ("human", "system"):
                adjacent = False
        return [ids for _, ids in groups]

    def _run(self, chain: list[Step], message_id: str) -> str | None:
        """Give the run of the oldest checkpoint that holds a prompt without a gap up to the head."""
        held = 0
        while held < len(chain) and _prompt(message_id) in chain[held].prompts():
            held += 1
        if held == len(chain):
            return None
        above = chain[held]
        return chain[held - 1].run_id or (above.run_id if above.waits == ("__start__",) else None)

    def base(self, head: str, message_id: str) -> str | None:
        """Give the base of a visible message of a head, None where there is none."""
        chain = self.chain(head)
        messages = chain[0].messages
        ids = [message.id for message in messages]
        users = [one.id for one in messages[: ids.index(message_id) + 1] if _shown(one, "human")]
        if not users:
            return None
        turn = next(turn for turn in self.turns(head) if users[-1] in turn)
        asked = {_prompt(one) for one in turn}
        for step in chain:
            if not asked & step.prompts() and not step.pending and not self.commanded(step.checkpoint_id):
                before = [one for one in messages[: ids.index(turn[0])] if _shown(one, "human", "ai")]
                whole = {_prompt(one.id) for one in before} - asked <= step.prompts()
                return step.checkpoint_id if whole else None
        return None


def _shown(message: Any, *kinds: str) -> bool:
    return message.type in kinds and message.additional_kwargs.get("hide_from_ui") is not True


def _prompt(message_id: str) -> str:
    return message_id.removesuffix("__user")
