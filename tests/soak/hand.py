"""One client that does everything to threads of its own and remembers what it was told; it judges nothing.

An operation that was not answered stays in `doubt`: it may have been done or not, but nothing between.
"""

import http.client
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

HEADERS: Final = {"Content-Type": "application/json"}
MOST: Final = 5  # threads of one client
LOST: Final = (OSError, http.client.HTTPException)


@dataclass
class Known:
    """What was acknowledged of one thread."""

    assistant: str
    keys: set[str] = field(default_factory=set)
    archived: bool = False
    asked: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)


class Unexpected(AssertionError):
    """An answer that no state of the service explains."""


class Hand:
    """Works until it is told to stop or nobody answers; chance is its own, from a seed."""

    def __init__(self, name: str, seed: int, assistants: tuple[str, ...]) -> None:
        self.name, self.chance, self._assistants = name, random.Random(seed), assistants
        self.known: dict[str, Known] = {}
        self.doubt: tuple[str, str, str] | None = None
        self.answered = 0
        self._made = 0
        self._verbs: tuple[tuple[int, Callable[[str], None]], ...] = (
            (4, self._run), (2, self._start), (3, self._patch), (2, self._archive), (2, self._branch), (2, self._edit),
            (1, self._regenerate), (1, self._delete),
        )  # fmt: skip

    def work(self, url: str, stopped: Callable[[], bool]) -> None:
        """Do one thing after the other."""
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
        try:
            while not stopped():
                self.once()
        except LOST:
            pass
        finally:
            self._connection.close()

    def once(self) -> None:
        """Do one thing."""
        if not self.known or (len(self.known) < MOST and self.chance.random() < 0.2):
            return self._create()
        weights, verbs = zip(*self._verbs, strict=True)
        [verb] = self.chance.choices(verbs, weights)
        verb(self.chance.choice(sorted(self.known)))

    def ask(self, method: str, path: str, body: Any = None, refusals: tuple[int, ...] = ()) -> Any:
        """Give the JSON of an answer, None for a refusal that may come."""
        data = None if body is None else json.dumps(body).encode()
        self._connection.request(method, path, data, HEADERS)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status in refusals:
            return None
        if answer.status >= 300:
            raise Unexpected(f"{self.name}: {method} {path} {body}: {answer.status} {text[:500]!r}")
        self.answered += 1
        return json.loads(text) if text else {}

    def _create(self) -> None:
        self._made += 1
        thread_id = f"{self.name}-{self._made}"
        self.doubt = ("create", thread_id, "")
        self.ask("POST", "/threads", {"thread_id": thread_id, "metadata": {"made_by": self.name}})
        self.known[thread_id] = Known(self.chance.choice(self._assistants), {"made_by"})
        self.doubt = None

    def _patch(self, thread_id: str) -> None:
        key = f"k{self.chance.randrange(1000)}"
        self.doubt = ("patch", thread_id, key)
        self.ask("PATCH", f"/threads/{thread_id}", {"metadata": {key: 1}})
        self.known[thread_id].keys.add(key)
        self.doubt = None

    def _archive(self, thread_id: str) -> None:
        wanted = not self.known[thread_id].archived
        self.doubt = ("archive", thread_id, "")
        self.ask("POST", "/threads/archive", {"thread_ids": [thread_id], "archived": wanted})
        self.known[thread_id].archived = wanted
        self.doubt = None

    def _delete(self, thread_id: str) -> None:
        self.doubt = ("delete", thread_id, "")
        if self.ask("DELETE", f"/threads/{thread_id}", refusals=(409,)) is not None:
            del self.known[thread_id]
        self.doubt = None

    def _turn(self, thread_id: str) -> dict[str, Any]:
        text = f"m{self.chance.randrange(10**9)}"
        message = {"type": "human", "id": text, "content": text}
        return {"assistant_id": self.known[thread_id].assistant, "input": {"messages": [message]}}

    def _run(self, thread_id: str) -> None:
        self._note(thread_id, self.ask("POST", f"/threads/{thread_id}/runs/wait", self._turn(thread_id)))

    def _start(self, thread_id: str) -> None:
        run = self.ask("POST", f"/threads/{thread_id}/runs", self._turn(thread_id))
        self.known[thread_id].runs.add(run["run_id"])

    def _note(self, thread_id: str, values: Any) -> None:
        """Remember the questions of values that were given as the end of a run."""
        if "messages" not in values:
            raise Unexpected(f"{self.name}: thread {thread_id} ended with {values}")
        self.known[thread_id].asked |= {one["id"] for one in values["messages"] if one["type"] == "human"}

    def _messages(self, thread_id: str, kind: str) -> list[str]:
        values = self.ask("GET", f"/threads/{thread_id}/state")["values"]
        return [one["id"] for one in values.get("messages", []) if one["type"] == kind]

    def _branch(self, thread_id: str) -> None:
        answers = self._messages(thread_id, "ai")
        if not answers or len(self.known) >= MOST:
            return
        self.doubt = ("branch", thread_id, "")
        chosen = {"message_id": self.chance.choice(answers)}
        made = self.ask("POST", f"/threads/{thread_id}/branches", chosen, refusals=(409,))
        if made is not None:
            self.known[made["thread_id"]] = Known(self.known[thread_id].assistant)
        self.doubt = None

    def _edit(self, thread_id: str) -> None:
        questions = self._messages(thread_id, "human")
        if questions:
            text = f"e{self.chance.randrange(10**9)}"
            body = {"human_message_id": self.chance.choice(questions), "replacement_text": text}
            self._replay(thread_id, "edit", body)

    def _regenerate(self, thread_id: str) -> None:
        answers = self._messages(thread_id, "ai")
        if answers:
            self._replay(thread_id, "regenerate", {"message_id": self.chance.choice(answers)})

    def _replay(self, thread_id: str, verb: str, body: dict[str, Any]) -> None:
        body["stream"] = False
        run = self.ask("POST", f"/threads/{thread_id}/runs/{verb}", body, refusals=(404, 409))
        if run is not None:
            self.known[thread_id].runs.add(run["run_id"])
            self._note(thread_id, self.ask("GET", f"/threads/{thread_id}/runs/{run['run_id']}/join"))
