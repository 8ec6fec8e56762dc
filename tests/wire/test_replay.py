"""LangGraph's server and ours, asked the same: what differs is in the table of differences, and nothing else does."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.runs import gates
from tests.service import Frame, Service, frames
from tests.wire.before import BEFORE, LEFT, OPENING
from tests.wire.differences import AWAITED, DIFFERENCES, OUT_OF_ORDER
from tests.wire.graphs import Door
from tests.wire.recorded import NAME, Exchange, Finding, Names, differing, recordings

GRAPHS = ",".join(f"{name}=tests.wire.graphs:{name}" for name in ("chat", "ask", "noop", "nested"))
FOLDERS = (
    "threads", "search", "state", "replay", "runs", "resume", "stream", "multitask", "reconnect", "assistants", "store",
    "meta",
)  # fmt: skip
COMPARED = ("location", "content-location")


@pytest.fixture
def peer(serve: Callable[..., Service]) -> Iterator[Service]:
    """A service of the recorded graphs, its door open."""
    Door.gate = None
    yield serve(graphs=GRAPHS)
    Door.gate = None


def slow(exchange: Exchange) -> bool:
    """Say whether a request starts a slow run and does not wait for it."""
    return exchange.request["path"].endswith("/runs") and "!sleep" in json.dumps(exchange.request.get("body"))


class Replay:
    """One folder of exchanges, asked of a service in their order."""

    def __init__(self, service: Service, folder: str) -> None:
        self.service, self.folder, self.names = service, folder, Names()

    def findings(self) -> Iterator[Finding]:
        for exchange in recordings(self.folder):
            step = f"{self.folder}/{exchange.step[:3]}"
            if step in OUT_OF_ORDER:
                continue
            self.turn_the_door(step, exchange)
            BEFORE.get(step, lambda service, names: None)(self.service, self.names)
            self.prepare(exchange)
            found = [Finding(step, where, what) for where, what in self.asked(exchange, leaving=step in LEFT)]
            yield from () if AWAITED.fullmatch(step) else found

    def turn_the_door(self, step: str, exchange: Exchange) -> None:
        """Hold slow runs that are started in the background, until a step waits for their end."""
        if slow(exchange) or step in LEFT:
            Door.gate = gates.Gate(step)
        if step in OPENING and Door.gate is not None:
            Door.gate.open()

    def prepare(self, exchange: Exchange) -> None:
        """Make the threads that the request speaks of and nobody has made."""
        for name in dict.fromkeys(NAME.findall(exchange.request["path"])):
            if name.startswith("<thread:") and name not in self.names:
                self.names.known[name] = self.service.thread()

    def asked(self, exchange: Exchange, *, leaving: bool) -> Iterator[tuple[str, str]]:
        request, told = exchange.request, exchange.response
        body = self.names.filled(request.get("body"))
        given: dict[str, Any] = {} if body is None else {"data": body if isinstance(body, str) else json.dumps(body)}
        given["headers"] = self.names.filled(request.get("headers", {}))
        given["query_string"] = [tuple(pair) for pair in self.names.filled(request.get("query", []))]
        answer = self.service.client.open(self.names.filled(request["path"]), method=request["method"], **given)
        with answer:
            data = self.beginning(answer) if leaving else answer.get_data()
        if answer.status_code != told["status"]:
            yield "status", f"is {answer.status_code}, not {told['status']}"
            return
        for name in COMPARED:
            if name in told.get("headers", {}):
                yield from differing(self.names, told["headers"][name], answer.headers.get(name), name)
        if slow(exchange) and "after_seconds" not in request["body"] and Door.gate is not None:
            Door.gate.await_reached()
        if "sse" in told:
            events = [one for one in told["sse"] if "event" in one]
            names = events[0] if events else ("event", "data")
            ours = [shown(one, names) for one in frames(iter([data])) if one.event != "end"]
            yield from differing(self.names, events, ours, "sse")
        elif "body" in told and answer.mimetype != "application/json":
            yield "body", f"is {answer.mimetype}"
        elif "body" in told:
            yield from differing(self.names, told["body"], json.loads(data) if data else None, "body")
        elif told.get("empty_body") and data:
            yield "body", "is not empty"


    def beginning(self, answer: TestResponse) -> bytes:
        """Read two events of a stream and leave it while its run waits at the door."""
        data = b""
        for piece in answer.iter_encoded():
            data += piece
            if data.count(b"\n\n") >= 2 and data.endswith(b"\n\n"):
                break
        assert Door.gate is not None
        Door.gate.await_reached()
        return data


def shown(one: Frame, names: Iterable[str]) -> dict[str, Any]:
    """Give what of an event was recorded."""
    whole = {"event": one.event, "data": one.data, "id": str(one.id)}
    return {name: whole[name] for name in names}


@pytest.mark.parametrize("folder", FOLDERS)
def test_our_answers_are_the_recorded_ones_but_for_what_differs_on_purpose(peer: Service, folder: str) -> None:
    unexplained, used = [], set()
    for finding in Replay(peer, folder).findings():
        reasons = [one for one in DIFFERENCES if one.covers(finding)]
        used |= {id(one) for one in reasons}
        unexplained += [] if reasons else [str(finding)]
    assert unexplained == []
    idle = [one for one in DIFFERENCES if one.steps.startswith(f"{folder}/") and id(one) not in used]
    assert idle == []
