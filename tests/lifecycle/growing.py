"""A thread that grows at random: turns, regenerations, edits, updates by hand, interrupts, failures, cancelled runs."""

import random
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.types import Command

from deerflow_lite.checkpoints.root import new_checkpoint_id, write_root
from tests.lifecycle.stored import Stored

TEXTS = ("hello", "!ask me", "!boom", "!talk", "why", "and then")


@dataclass
class Growing:
    """One thread and the checkpoints that a head may stand on; runs are driven as the service drives them."""

    stored: Stored
    graph: Any
    chance: random.Random
    thread_id: str = "t"
    heads: list[str] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        root = new_checkpoint_id()
        with self.stored.gateway.db.writing() as connection:
            write_root(connection, self.thread_id, root, "2026-01-01T00:00:00+00:00")
        self.heads.append(root)

    def place(self, checkpoint_id: str) -> dict[str, Any]:
        return {"thread_id": self.thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}

    def state(self, checkpoint_id: str) -> Any:
        return self.graph.get_state({"configurable": self.place(checkpoint_id)})

    def grow(self) -> None:
        """Do one random thing from a random head, mostly the newest."""
        head = self.heads[-1] if self.chance.random() < 0.7 else self.chance.choice(self.heads)
        pending = bool(self.state(head).next)
        act = self.chance.choice([self.turn, self.turn, self.turn, self.update, self.again, self.again, self.commanded])
        if pending and self.state(head).interrupts and self.chance.random() < 0.5:
            act = self.resume
        act(head)
        self.heads.append(self.newest())

    def newest(self) -> str:
        with self.stored.gateway.db.reading() as connection:
            statement = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
            found: str = connection.execute(statement, (self.thread_id,)).fetchone()[0]
        return found

    def settled(self, head: str) -> str:
        """Give a head that a new turn may begin on: a settled copy of one with scheduled work."""
        if not self.state(head).next:
            return head
        made = self.graph.update_state({"configurable": self.place(head)}, None, as_node="__end__")
        copied: str = made["configurable"]["checkpoint_id"]
        return copied

    def turn(self, head: str) -> None:
        messages = [self.message() for _ in range(self.chance.choice([1, 1, 1, 2]))]
        self.run(self.settled(head), {"messages": messages})

    def again(self, head: str) -> None:
        """Send a user message of the head once more, or a new one in its place, from a settled ancestor without it."""
        users = [one for one in self.state(head).values["messages"] if _own(one)] if self.state(head).values else []
        if not users:
            return self.turn(head)
        wanted = self.chance.choice(users)
        for found in self.graph.get_state_history({"configurable": self.place(head)}):
            ids = {one.id.removesuffix("__user") for one in found.values.get("messages", [])}
            if not found.next and wanted.id.removesuffix("__user") not in ids and not self.waiting(found):
                same = HumanMessage(content=wanted.content, id=wanted.id.removesuffix("__user"))
                message = same if self.chance.random() < 0.5 else self.message()
                return self.run(found.config["configurable"]["checkpoint_id"], {"messages": [message]})
        return self.turn(head)

    def waiting(self, found: Any) -> bool:
        """Say whether a Command wrote on the checkpoint, so that a run from it would take that in."""
        given = self.graph.checkpointer.get_tuple(found.config).pending_writes
        return any(not task_id.strip("0-") for task_id, _, _ in given)

    def update(self, head: str) -> None:
        found = self.state(head)
        messages = [] if self.waiting(found) else found.values.get("messages", [])
        writes: list[Any] = [self.message(), AIMessage(content="by hand", id=f"hand-{self.next()}")]
        writes += [RemoveMessage(id=self.chance.choice(messages).id)] if messages else []
        node = self.chance.choice(["after", "__start__"])
        self.graph.update_state(
            {"configurable": self.place(head)}, {"messages": [self.chance.choice(writes)]}, as_node=node
        )

    def commanded(self, head: str) -> None:
        """Run a Command on a settled head itself, as another program may."""
        if self.state(head).next or head == self.heads[0]:
            return self.turn(head)
        return self.run(head, Command(update={"messages": [self.message("again")]}, goto="model"))

    def resume(self, head: str) -> None:
        self.run(head, Command(resume="yes"))

    def run(self, base: str, given: Any) -> None:
        """Run to the end, to a failure, or until somebody stops listening."""
        run_id = f"run-{self.next()}"
        config = {"configurable": {**self.place(base), "run_id": run_id}, "metadata": {"run_id": run_id}}
        most = self.chance.choice([99, 99, 99, 1, 2, 3])
        durability = self.chance.choice(["sync", "sync", "sync", "exit"])
        chunks = self.graph.stream(given, config, stream_mode="values", durability=durability)
        try:
            for number, _ in enumerate(chunks, 1):
                if number == most:
                    break
        except ValueError as error:
            assert str(error) == "boom"
        finally:
            chunks.close()

    def message(self, text: str | None = None) -> HumanMessage:
        return HumanMessage(content=text or self.chance.choice(TEXTS), id=f"u{self.next()}")

    def next(self) -> int:
        self.count += 1
        return self.count


def _own(message: Any) -> bool:
    return message.type == "human" and not message.additional_kwargs.get("hide_from_ui")
