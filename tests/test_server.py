"""Starting, stopping and losing the service, as processes on both servers; no room is opened in the test itself."""

import os
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.processes import DEADLINE, Served, command
from tests.service import until

SERVERS = ("granian", "cheroot")
STREAMS, RUNNING = 50, 8
Start = Callable[..., Served]


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    return tmp_path / "instance"


@pytest.fixture
def start(instance: Path) -> Iterator[Start]:
    """Start services on one folder; what still runs after the test is stopped."""
    started: list[Served] = []

    def one(**settings: Any) -> Served:
        started.append(Served(instance, **settings))
        return started[-1]

    yield one
    for served in started:
        if served.process.poll() is None:
            served.end(signal.SIGKILL)


@pytest.mark.parametrize("server", SERVERS)
def test_what_was_loaded_is_spared_from_garbage_collection(start: Start, server: str) -> None:
    served = start(server=server, graphs="counting=tests.spared:counting")

    def spared() -> int:
        body = {"assistant_id": "counting", "input": {"spared": 0}}
        return int(served.ask("/runs/wait", body)["spared"])

    assert until(spared) > 50_000


@pytest.mark.parametrize("server", SERVERS)
def test_the_first_line_is_the_url_and_it_answers_then_come_database_and_how_to_stop(
    start: Start, instance: Path, server: str
) -> None:
    served = start(server=server)
    assert served.ask("/ok") == {"ok": True}
    host, _, port = served.url.rpartition(":")
    assert (host, port.isdecimal()) == ("http://127.0.0.1", True)
    assert served.line() == f"Everything is kept in {instance / 'deerflow.sqlite'}"
    assert served.line() == f"Stop with Ctrl+C or `kill {served.process.pid}`"
    assert (instance.parent / "stderr.txt").read_text() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize("server", SERVERS)
def test_a_signal_ends_the_service_with_exit_code_0(start: Start, server: str, number: signal.Signals) -> None:
    assert start(server=server).end(number) == 0


@pytest.mark.parametrize("server", SERVERS)
def test_a_signal_ends_open_streams_with_an_event_before_the_service_is_gone(start: Start, server: str) -> None:
    served = start(server=server, graphs="held=tests.sample_graphs:slow", stop_grace=1)
    thread_id = served.ask("/api/threads", {})["thread_id"]
    body = b'{"assistant_id": "held", "input": {"messages": [{"role": "user", "content": "20"}]}}'
    stream = urlopen(Request(f"{served.url}/api/threads/{thread_id}/runs/stream", body), timeout=DEADLINE)
    with stream:
        events = iter(line for line in stream if line.startswith(b"event: "))
        assert [next(events), next(events)] == [b"event: metadata\n", b"event: values\n"]
        assert served.end() == 0
        assert list(events) == [b"event: error\n", b"event: end\n"]


@pytest.mark.parametrize("server", SERVERS)
def test_a_signal_ends_fifty_open_streams_of_running_and_of_waiting_runs(start: Start, server: str) -> None:
    served = start(server=server, graphs="held=tests.sample_graphs:slow", stop_grace=1, run_concurrency=RUNNING)
    body = b'{"assistant_id": "held", "input": {"messages": [{"role": "user", "content": "60"}]}}'

    def follow(number: int) -> list[bytes]:
        path = f"{served.url}/api/threads/t{number}/runs/stream"
        with urlopen(Request(path, body), timeout=DEADLINE) as stream:
            return [line.split()[1] for line in stream if line.startswith(b"event: ")]

    def opened() -> bool:
        with urlopen(served.url + "/metrics", timeout=DEADLINE) as told:
            return set(told.read().decode().splitlines()) >= counted

    counted = {f"deerflow_streams_open {STREAMS}.0", f'deerflow_runs{{status="running"}} {RUNNING}.0',
               f'deerflow_runs{{status="pending"}} {STREAMS - RUNNING}.0'}  # fmt: skip
    for number in range(STREAMS):
        served.ask("/api/threads", {"thread_id": f"t{number}"})
    with ThreadPoolExecutor(STREAMS) as pool:
        followed = [pool.submit(follow, number) for number in range(STREAMS)]
        until(opened)
        assert served.end() == 0
        ends = Counter(tuple(one.result()[-2:]) for one in followed)
    assert ends == {(b"error", b"end"): RUNNING, (b"metadata", b"stopping"): STREAMS - RUNNING}


@pytest.mark.parametrize("server", SERVERS)
def test_a_second_service_on_the_folder_is_refused_in_one_line(start: Start, instance: Path, server: str) -> None:
    first = start(server=server)
    second = command("serve", instance=instance, port=0, server=server)
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == f"deerflow-lite: {instance} is already served at {first.url}\n"
    assert first.ask("/ok") == {"ok": True}


@pytest.mark.parametrize("server", SERVERS)
def test_a_port_in_use_is_said_in_one_line(instance: Path, server: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = command("serve", instance=instance, port=port, server=server)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"deerflow-lite: 127.0.0.1:{port} is in use; choose another PORT\n"


@pytest.mark.parametrize("server", SERVERS)
def test_a_killed_parent_takes_its_worker_along_and_the_port_and_folder_are_free(start: Start, server: str) -> None:
    served = start(server=server)
    assert served.end(signal.SIGKILL) == -signal.SIGKILL
    port = int(served.url.rpartition(":")[2])
    assert start(server=server, port=port).url == served.url


@pytest.mark.parametrize("server", SERVERS)
def test_killing_every_process_loses_no_acknowledged_create(start: Start, server: str) -> None:
    served = start(server=server)
    made = [served.ask("/api/threads", {"metadata": {"number": number}})["thread_id"] for number in range(200)]
    for pid in served.everybody():
        os.kill(pid, signal.SIGKILL)
    served.ended()
    again = start(server=server)
    assert again.ask("/api/threads/count", {}) == 200
    assert {row["thread_id"] for row in again.ask("/api/threads/search", {"limit": 1000})} == set(made)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_worker_that_is_ended_alone_ends_the_parent_which_says_so(
    start: Start, instance: Path, number: signal.Signals
) -> None:
    served = start()
    _, worker = served.everybody()
    os.kill(worker, number)
    assert served.ended() == 1
    told = (instance.parent / "stderr.txt").read_text()
    assert told == "deerflow-lite: the process that serves ended by itself\n"


def test_an_address_that_others_reach_is_refused_without_tokens(instance: Path) -> None:
    refused = command("serve", "--host", "0.0.0.0", instance=instance, port=0)
    assert (refused.returncode, refused.stdout, instance.exists()) == (2, "", False)
    assert refused.stderr == (
        "deerflow-lite: HOST 0.0.0.0 is not a loopback address and AUTH is none: anybody could call it\n"
    )


def test_a_loopback_name_and_ipv6_are_served(start: Start) -> None:
    named = start(host="localhost")
    assert named.url.startswith("http://localhost:")
    assert named.ask("/ok") == {"ok": True}
    assert named.end() == 0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"colour": "red"}, "DEERFLOW_LITE_COLOUR is not a setting"),
        ({"port": "many"}, "DEERFLOW_LITE_PORT must be a whole number from 0 to 65535, not 'many'"),
        ({"server": "apache"}, "DEERFLOW_LITE_SERVER must be one of granian, cheroot, not 'apache'"),
    ],
)
def test_a_bad_setting_stops_the_start_with_its_name(instance: Path, settings: dict[str, str], sentence: str) -> None:
    refused = command("serve", instance=instance, **settings)
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", f"deerflow-lite: {sentence}\n")


@pytest.mark.parametrize("server", SERVERS)
def test_a_setting_that_only_the_opened_service_can_refuse_is_named_too(instance: Path, server: str) -> None:
    refused = command("serve", instance=instance, port=0, server=server, graphs="no graph")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert refused.stderr.startswith("deerflow-lite: GRAPHS: ")


@pytest.mark.parametrize("server", SERVERS)
def test_a_folder_or_file_that_cannot_be_used_is_said_in_one_line(tmp_path: Path, server: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "deerflow.sqlite").write_text("this is no database, it is a text of some length" * 100)
    for instance in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "broken"):
        refused = command("serve", instance=instance, port=0, server=server)
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1), refused.stderr
