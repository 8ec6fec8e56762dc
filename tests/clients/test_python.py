"""LangGraph's Python client, sync and async: each of its methods is used, or README says how it is refused."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from httpx import HTTPStatusError
from langgraph_sdk.errors import APIStatusError

from tests.clients.calls import CHECKS, thread
from tests.clients.either import ROOMS, SYNC_ROOMS, Either, methods
from tests.processes import ROOT, Served

README = (ROOT / "README.md").read_text(encoding="utf-8")
REFUSED = {name: int(status) for name, status in re.findall(r"^\| `(\w+\.\w+)` \| (\d{3}) \|", README, re.MULTILINE)}
KINDS = pytest.mark.parametrize("kind", ["sync", "async"])
MOUNTS = pytest.mark.parametrize("mount", ["", "/api", "/api/langgraph"])
ASSISTANT = "00000000-0000-0000-0000-000000000000"
CALLS: dict[str, Callable[[Either], Any]] = {
    "assistants.create": lambda client: client.assistants.create("talk"),
    "assistants.update": lambda client: client.assistants.update(ASSISTANT, name="x"),
    "assistants.delete": lambda client: client.assistants.delete(ASSISTANT),
    "assistants.get_versions": lambda client: client.assistants.get_versions(ASSISTANT),
    "assistants.set_latest": lambda client: client.assistants.set_latest(ASSISTANT, 1),
    "threads.stream": lambda client: client.started(assistant_id="talk"),
    "threads.join_stream": lambda client: client.threads.join_stream(thread(client)),
    "crons.create": lambda client: client.crons.create("talk", schedule="* * * * *"),
    "crons.create_for_thread": lambda client: client.crons.create_for_thread(
        thread(client), "talk", schedule="* * * * *"
    ),
    "crons.update": lambda client: client.crons.update(ASSISTANT, schedule="* * * * *"),
    "crons.delete": lambda client: client.crons.delete(ASSISTANT),
    "crons.search": lambda client: client.crons.search(),
    "crons.count": lambda client: client.crons.count(),
}


@pytest.fixture
def client(served: Served, kind: str) -> Any:
    with Either(kind, served.url) as client:
        yield client


@KINDS
@pytest.mark.parametrize("name", CHECKS)
def test_a_method_does_what_its_caller_expects(client: Either, name: str) -> None:
    for check in CHECKS[name]:
        check(client)
    assert name in client.called


@pytest.mark.parametrize("rooms", [ROOMS, SYNC_ROOMS], ids=["async", "sync"])
def test_every_method_is_used_or_named_in_readme_as_refused(rooms: dict[str, Any]) -> None:
    assert methods(rooms) == CHECKS.keys() | REFUSED.keys()
    assert CHECKS.keys() & REFUSED.keys() == set()


@KINDS
@pytest.mark.parametrize("name", REFUSED)
def test_a_method_that_is_not_served_is_refused_as_readme_says(client: Either, name: str) -> None:
    with pytest.raises((APIStatusError, HTTPStatusError)) as refused:
        CALLS[name](client)
    assert refused.value.response.status_code == REFUSED[name]


@KINDS
@MOUNTS
def test_a_client_works_at_every_mount(served: Served, kind: str, mount: str) -> None:
    with Either(kind, served.url + mount) as client:
        for check in CHECKS["runs.stream"]:
            check(client)
