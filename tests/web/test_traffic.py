"""What can be seen of the service while it runs: ids of requests, counts, logs that tell nobody's secrets."""

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.processes import ROOT, Served, environ
from tests.service import Service, until

SECRET, SAID = "sk-very-secret", "what nobody else may read"


def metrics(client: FlaskClient) -> dict[str, float]:
    answer = client.get("/metrics")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_every_answer_carries_the_id_of_its_request(client: FlaskClient) -> None:
    for path in ("/api/ok", "/api/threads/nobody", "/nothing/here", "/"):
        first, second = client.get(path).headers["X-Request-Id"], client.get(path).headers["X-Request-Id"]
        assert first != second
    assert client.get("/ok", headers={"X-Request-Id": "mine-1"}).headers["X-Request-Id"] == "mine-1"
    for odd in ("a b", "x" * 65, "é", ""):
        assert re.fullmatch(r"[0-9a-f-]{36}", client.get("/ok", headers={"X-Request-Id": odd}).headers["X-Request-Id"])


def test_an_unforeseen_error_names_its_request_in_the_body(make: Callable[..., Flask]) -> None:
    app = make()
    app.add_url_rule("/fail", "fail", lambda: {}["missing"])
    answer = app.test_client().get("/fail", headers={"X-Request-Id": "mine-2"})
    assert (answer.status_code, answer.json) == (500, {"detail": "internal error", "request_id": "mine-2"})


def test_requests_are_counted_by_view_and_status_and_never_by_what_a_client_made_up(client: FlaskClient) -> None:
    client.post("/api/threads", json={"thread_id": "t1"})
    client.post("/threads", json={"thread_id": "t1", "if_exists": "raise"})
    client.open("/threads", method="BREW")
    client.get("/api/threads/t1")
    counted = {
        name.removeprefix("deerflow_request_seconds_count"): value
        for name, value in metrics(client).items()
        if name.startswith("deerflow_request_seconds_count")
    }
    assert counted == {
        '{method="POST",status="200",view="create_thread"}': 1.0,
        '{method="POST",status="409",view="create_thread"}': 1.0,
        '{method="GET",status="200",view="get_thread"}': 1.0,
        '{method="other",status="405",view="none"}': 1.0,
    }


def test_runs_and_open_streams_are_counted_while_they_are_and_when_they_have_ended(service: Service, gate: Any) -> None:
    thread_id = service.thread(metadata={"owner": "somebody"})
    run = service.start(thread_id, "held", gate.text)
    service.reach(thread_id, run["run_id"], "running")
    stream = service.call("GET", f"/threads/{thread_id}/runs/{run['run_id']}/stream")
    before = metrics(service.client)
    assert (before['deerflow_runs{status="running"}'], before["deerflow_streams_open"]) == (1.0, 1.0)
    gate.open()
    stream.get_data()
    stream.close()
    service.join(thread_id, run["run_id"])
    after = until(lambda: (found := metrics(service.client))["deerflow_streams_open"] == 0.0 and found)
    assert (after['deerflow_runs{status="running"}'], after['deerflow_runs_ended_total{status="success"}']) == (0, 1)
    assert after['deerflow_database_bytes{file="database"}'] > 0 and after["deerflow_lock_wait_seconds_count"] > 2
    assert after["process_resident_memory_bytes"] > 0
    told = service.call("GET", "/metrics").text
    assert thread_id not in told and "somebody" not in told and "default" not in told


def test_nothing_of_the_metrics_is_loaded_before_they_are_asked_for(tmp_path: Path) -> None:
    program = (
        "import sys; from deerflow_lite import create_app; client = create_app().test_client();"
        "client.get('/ok'); print('prometheus_client' in sys.modules);"
        "client.get('/metrics'); print('prometheus_client' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environ({"instance": tmp_path}), capture_output=True, text=True
    )
    assert (told.stdout, told.stderr) == ("False\nTrue\n", "")


def asked(served: Served, path: str, body: Any) -> tuple[int, str]:
    """Post and give the status and the id of the request."""
    try:
        with urlopen(Request(served.url + path, json.dumps(body).encode()), timeout=60) as answer:
            answer.read()
            return answer.status, answer.headers["X-Request-Id"]
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers["X-Request-Id"]


@pytest.mark.parametrize("server", ["granian", "cheroot"])
def test_refusals_are_logged_with_their_request_and_no_text_of_anybody(
    tmp_path: Path, start: Callable[..., Served], server: str
) -> None:
    served = start(tmp_path / "instance", server=server, graphs="boom=tests.sample_graphs:boom")
    message = {"messages": [{"role": "user", "content": SAID}]}
    turn = {"input": message, "config": {"configurable": {"api_key": SECRET}}}
    refusals = [
        asked(served, "/api/threads", {"thread_id": f"{SAID}/"}),
        asked(served, "/api/threads/none/runs", {"assistant_id": "agent", **turn}),
        asked(served, f"/api/threads/search?q={SECRET}", {SAID.split()[0]: SAID}),
    ]
    assert [status for status, _ in refusals] == [422, 404, 422]
    for assistant in ("agent", "boom"):
        thread_id = served.ask("/api/threads", {"title": SAID})["thread_id"]
        assert asked(served, f"/api/threads/{thread_id}/runs/wait", {"assistant_id": assistant, **turn})[0] == 200
    assert served.end() == 0
    told = (tmp_path / "stderr.txt").read_text()
    lines = [json.loads(line) for line in told.splitlines()]
    logged = [(line["status"], line["request_id"]) for line in lines if line["message"] == "answered"]
    assert logged == refusals
    assert [line["message"].rpartition(": ")[2] for line in lines if line["message"].startswith("run ")] == [
        "ValueError"
    ]
    assert SAID not in told and SECRET not in told


@pytest.mark.parametrize("status", ["running", "success"])
def test_an_error_of_the_database_is_logged_by_its_name_and_never_by_its_text(
    tmp_path: Path, start: Callable[..., Served], status: str
) -> None:
    served = start(tmp_path / "instance", server="cheroot")
    log = tmp_path / "stderr.txt"
    with contextlib.closing(sqlite3.connect(tmp_path / "instance" / "deerflow.sqlite", timeout=20)) as file:
        file.execute(
            "CREATE TRIGGER planted BEFORE UPDATE OF status ON runs"
            f" WHEN NEW.status = '{status}' BEGIN SELECT RAISE(ABORT, '{SECRET}'); END"
        )
        file.commit()
        thread_id = served.ask("/api/threads", {})["thread_id"]
        later = {"assistant_id": "agent", "input": {"messages": []}, "after_seconds": 1}
        run = served.ask(f"/api/threads/{thread_id}/runs", later)
        until(lambda: "tried again" in log.read_text())
        file.execute("DROP TRIGGER planted")
        file.commit()
    served.ask(f"/api/threads/{thread_id}/runs/{run['run_id']}/join")
    assert served.end() == 0
    told = log.read_text()
    failed = [line for line in map(json.loads, told.splitlines()) if "tried again" in line["message"]]
    assert {(line["exception"], line["sqlite"]) for line in failed} == {("IntegrityError", "SQLITE_CONSTRAINT_TRIGGER")}
    assert SECRET not in told
