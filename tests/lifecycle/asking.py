"""The verbs on turns as the tests use them, over both checkpoint modes."""

from collections.abc import Iterator
from typing import Any

from tests.service import Service, human


class Talk:
    """One thread and the graph that answers in it."""

    def __init__(self, service: Service, graph: str, thread_id: str = "") -> None:
        self.service, self.graph = service, graph
        self.id = thread_id or service.thread()
        self.root: str = service.gateway.threads.get(None, self.id).root or ""

    def say(self, text: str, message_id: str, base: str | None = None, **more: Any) -> str:
        """Send one message, to the head or to a checkpoint, wait for the end and give the run's id."""
        more |= {} if base is None else {"checkpoint_id": base}
        run = self.service.start(self.id, self.graph, human(text, message_id), **more)
        self.service.join(self.id, run["run_id"])
        return str(run["run_id"])

    def resume(self, answer: str, base: str | None = None) -> str:
        more = {} if base is None else {"checkpoint_id": base}
        run = self.service.start(self.id, self.graph, command={"resume": answer}, **more)
        self.service.join(self.id, run["run_id"])
        return str(run["run_id"])

    def tree(self) -> Any:
        return self.service.get(self.id, "/tree")

    def turns(self, query: str = "") -> Any:
        return self.service.get(self.id, "/turns" + query)

    def turn(self, turn_id: str) -> Any:
        [found] = [turn for turn in self.tree()["turns"] if turn["turn_id"] == turn_id]
        return found

    def select(self, checkpoint_id: str, status: int = 200) -> Any:
        return self.service.ask("PUT", f"/threads/{self.id}/head", {"checkpoint_id": checkpoint_id}, status)

    def delete(self, turn_id: str, status: int = 204) -> Any:
        return self.service.ask("DELETE", f"/threads/{self.id}/turns/{turn_id}", status=status)

    def head(self) -> str:
        return str(self.service.get(self.id)["head_checkpoint_id"])

    def texts(self) -> list[str]:
        return [message["content"] for message in self.service.state(self.id)["values"]["messages"]]

    def shown(self) -> list[str]:
        """Give the texts that the turns of the selected path hold."""
        return [message["content"] for turn in self.turns()["turns"] for message in turn["messages"]]

    def selected(self) -> list[str]:
        return [turn["turn_id"] for turn in self.tree()["turns"] if turn["on_selected_path"]]

    def places(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        return (tuple(turn[name] for name in fields) for turn in self.tree()["turns"])
