"""Threads used in any order: made, asked, forked, deleted, with whatever the document allows thrown in between.

No answer is a 5xx, each is as the document says, a deleted thread is unknown to every verb, and no thread is lost or
made by the way. FUZZ_EXAMPLES makes the walk longer, WALK_SEED repeats one.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import given

from tests.service import Service, human
from tests.web.test_document_fuzz import CHECKS, EXAMPLES, SETTINGS

SEED = int(os.environ.get("WALK_SEED") or 410_526)
STEPS = 60 * EXAMPLES
WORDS = ("a", "b", "What is 6*7?", "\u00e9\U0001f9ea")
COUNTED = {"copy_thread", "branch_thread", "delete_thread"}  # they make and remove threads: each is a step of its own
LEFT_OUT = {"ttl", "after_seconds", "if_not_exists"}  # they make and remove threads by the way, or take their time
VERBS = (
    "create", "say", "say", "change", "regenerate", "branch", "copy", "go_back", "delete", *("anything",) * 3,
)  # fmt: skip


class Walk:
    """Who uses the service; of the threads that were `made` those that are `alive` must be there."""

    def __init__(self, service: Service, cases: list[Any]) -> None:
        self.service, self.cases, self.chance = service, cases, random.Random(SEED)
        self.alive: set[str] = set()
        self.made: list[str] = []
        self.done = Counter[str]()

    def step(self) -> None:
        name = self.chance.choice(VERBS) if self.made else "create"
        getattr(self, name)(self.chance.choice(self.made[-6:] or [""]))
        assert self.service.ask("POST", "/threads/count", {}) == len(self.alive), name

    def ask(self, thread: str, method: str, rest: str, body: Any = None) -> Any:
        """Ask something of a thread and give the JSON, None where it is refused or says nothing."""
        with self.service.call(method, f"/threads/{thread}{rest}", body) as answer:
            status, data = answer.status_code, answer.get_data()
        allowed = (200, 202, 204, 409) if thread in self.alive else (404,)
        assert status in allowed, (method, rest, body, status, data)
        self.done[f"{method} {rest.partition('?')[0]}"] += status < 300
        return json.loads(data) if data and status < 300 else None

    def known(self, thread: str) -> dict[str, Any]:
        """Give what exists in a thread, for each name that the document has for it."""
        state, runs = self.ask(thread, "GET", "/state") or {}, self.ask(thread, "GET", "/runs") or []
        said = {one["type"]: one["id"] for one in (state.get("values") or {}).get("messages", [])}
        head = (state.get("checkpoint") or {}).get("checkpoint_id")
        named = {
            "thread_id": thread, "assistant_id": "chat", "message_id": said.get("ai"),
            "human_message_id": said.get("human"), "checkpoint_id": head,
            "run_id": runs[0]["run_id"] if runs else None, "turn_id": runs[-1]["run_id"] if runs else None,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value is not None}

    def create(self, _: str) -> None:
        self.enter(self.service.thread(title=self.chance.choice((None, *WORDS))))
        self.say(self.made[-1])

    def enter(self, thread: str) -> None:
        self.alive.add(thread)
        self.made.append(thread)

    def say(self, thread: str) -> None:
        body = {"assistant_id": "chat", "input": human(self.chance.choice(WORDS))}
        self.ask(thread, "POST", self.chance.choice(("/runs", "/runs/wait")), body)

    def change(self, thread: str) -> None:
        flag = {"deerflow_archived": self.chance.random() < 0.5, "k": 1}
        self.ask(thread, "PATCH", "", {"title": self.chance.choice((None, *WORDS)), "metadata": flag})
        self.ask(thread, "POST", "/state", {"values": human("told"), "as_node": "reply"})

    def regenerate(self, thread: str) -> None:
        if "message_id" in (known := self.known(thread)):
            self.ask(thread, "POST", "/runs/regenerate", {"message_id": known["message_id"]})

    def branch(self, thread: str) -> None:
        message = self.known(thread).get("message_id")
        if message and (made := self.ask(thread, "POST", "/branches", {"message_id": message})) is not None:
            self.enter(made["thread_id"])

    def copy(self, thread: str) -> None:
        if (made := self.ask(thread, "POST", "/copy")) is not None:
            self.enter(made["thread_id"])

    def go_back(self, thread: str) -> None:
        if stored := self.ask(thread, "GET", "/history?limit=10"):
            chosen = self.chance.choice(stored)["checkpoint"]["checkpoint_id"]
            self.ask(thread, "PUT", "/head", {"checkpoint_id": chosen})

    def delete(self, thread: str) -> None:
        before = thread in self.alive
        self.ask(thread, "DELETE", "")
        with self.service.call("GET", f"/threads/{thread}") as answer:
            if answer.status_code == 404:
                self.alive.discard(thread)
                self.done["deleted"] += before

    def anything(self, thread: str) -> None:
        case = self.chance.choice(self.cases)
        known = self.known(thread) if self.chance.random() < 0.5 else {"thread_id": thread}
        for part in (case.path_parameters, case.body, case.query):
            if isinstance(part, dict):
                part.update({name: known[name] for name in part if name in known})
        answer = case.call()
        case.validate_response(answer, checks=CHECKS)
        assert thread in self.alive or answer.status_code in (404, 422), (case.operation.label, answer.status_code)
        self.done[f"anything {answer.status_code}"] += 1


def drawn(service: Service) -> list[Any]:
    """Give requests on threads that the document allows."""
    cases: list[Any] = []

    def take(case: Any) -> None:
        if isinstance(case.body, dict):
            case.body = {name: value for name, value in case.body.items() if name not in LEFT_OUT}
        cases.append(case)

    document = schemathesis.openapi.from_wsgi("/api/openapi.json", service.app)
    for operation in (one.ok() for one in document.get_all_operations()):
        if "{thread_id}" in operation.path and operation.definition.raw["operationId"] not in COUNTED:
            SETTINGS(given(case=operation.as_strategy())(take))()
    return cases


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
def test_whatever_is_done_in_whatever_order_every_answer_is_as_the_document_says(serve: Callable[..., Service]) -> None:
    print(f"WALK_SEED={SEED}")
    service = serve(graphs="chat=tests.sample_graphs:chat")
    walk = Walk(service, drawn(service))
    for _ in range(STEPS):
        walk.step()
    for verb in ("POST /runs", "POST /runs/wait", "POST /runs/regenerate", "POST /branches", "POST /copy", "PATCH ",
                 "POST /state", "PUT /head", "deleted", "anything 200", "anything 404", "anything 422"):  # fmt: skip
        assert walk.done[verb], (verb, walk.done)
