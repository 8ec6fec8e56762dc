"""Prune as it is asked for: by the command line beside a service, and by clients of LangGraph's server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.processes import Served, command
from tests.service import Service, until

MODES = ("full", "delta")


def prune(service: Service, ids: list[str], status: int = 200, **more: Any) -> Any:
    return service.ask("POST", "/threads/prune", {"thread_ids": ids} | more, status)


def test_pruned_threads_are_deleted_and_unknown_ids_are_ignored(serve: Callable[..., Service]) -> None:
    service = serve()
    one, two, kept = service.thread(), service.thread(), service.thread()
    assert prune(service, [one, two, one, "nobody"]) == {"pruned_count": 2}
    assert [row["thread_id"] for row in service.ask("POST", "/threads/search", {})] == [kept]
    assert prune(service, []) == {"pruned_count": 0}
    refused = prune(service, [kept], 422, strategy="zap")
    assert refused["detail"] == "strategy: must be one of delete, keep_latest"


@pytest.mark.parametrize("mode", MODES)
def test_a_thread_cut_down_to_its_latest_goes_on_and_its_earlier_bases_are_given_up(
    serve: Callable[..., Service], mode: str
) -> None:
    service = serve(graphs=GRAPHS)
    talk = Talk(service, mode)
    for number in range(3):
        talk.say(f"m{number}", f"h{number}")
    before, head, turns = talk.texts(), talk.head(), talk.selected()
    assert prune(service, [talk.id], strategy="keep_latest") == {"pruned_count": 1}
    assert [row["checkpoint"]["checkpoint_id"] for row in service.history(talk.id)] == [head, talk.root]
    assert (talk.texts(), talk.head(), talk.selected()) == (before, head, turns)
    assert service.gateway.doctor.examine().findings == []
    service.ask("POST", f"/threads/{talk.id}/runs/edit", {"human_message_id": "h2", "replacement_text": "no"}, 409)
    talk.say("m3", "h3")
    assert talk.texts() == [*before, "m3", "echo: m3"]
    run = service.ask("POST", f"/threads/{talk.id}/runs/edit", {"human_message_id": "h3", "replacement_text": "yes"})
    service.join(talk.id, run["run_id"])
    assert talk.texts() == [*before, "yes", "echo: yes"]
    assert prune(service, [service.thread()], strategy="keep_latest") == {"pruned_count": 1}


@pytest.mark.parametrize("strategy", ["delete", "keep_latest"])
def test_nothing_is_pruned_while_one_of_the_threads_has_a_run_in_flight(
    serve: Callable[..., Service], gate: Any, strategy: str
) -> None:
    service = serve()
    idle, busy = service.thread(), service.thread()
    service.wait(idle, "chat", "hello")
    run = service.start(busy, "held", gate.text)
    service.reach(busy, run["run_id"], "running")
    before = service.history(idle)
    assert "run in flight" in prune(service, [idle, busy], 409, strategy=strategy)["detail"]
    assert service.history(idle) == before
    gate.open()
    service.join(busy, run["run_id"])


def test_the_command_says_what_it_would_do_then_does_it_and_the_file_shrinks(
    tmp_path: Path, start: Callable[..., Served]
) -> None:
    folder = tmp_path / "instance"
    served = start(folder, graphs="chat=tests.sample_graphs:chat")
    thread_id = served.ask("/threads", {"thread_id": "long"})["thread_id"]
    texts = [f"{number} " + "x" * 20_000 for number in range(12)]
    for text in texts:
        turn = {"assistant_id": "chat", "input": {"messages": [{"role": "user", "content": text}]}}
        values = served.ask(f"/threads/{thread_id}/runs/wait", turn)
    tree = served.ask(f"/threads/{thread_id}/tree")
    told = command("prune", instance=folder, graphs="chat=tests.sample_graphs:chat").stdout.splitlines()
    assert told == [
        "long: 24 of 37 checkpoints would be removed",
        "1 thread: 24 checkpoints would be removed.",
        "Nothing was written; --yes does it.",
    ]
    ran = command("prune", "lo", "--yes", "--json", instance=folder, graphs="chat=tests.sample_graphs:chat")
    done = json.loads(ran.stdout)
    assert (ran.returncode, done["pruned"], done["threads"]) == (
        0, True, [{"thread_id": "long", "checkpoints": 37, "removed": 24}]
    )  # fmt: skip
    assert done["bytes_after"] < 0.7 * done["bytes_before"]
    assert served.ask(f"/threads/{thread_id}/tree") == tree
    assert served.ask(f"/threads/{thread_id}/state")["values"]["messages"] == values["messages"]
    assert served.end() == 0
    assert command("doctor", instance=folder).stdout == "1 thread, 13 checkpoints: nothing is wrong.\n"


def test_a_thread_is_pruned_by_itself_after_so_many_checkpoints_and_not_before(serve: Callable[..., Service]) -> None:
    service = serve(graphs=GRAPHS, prune_after=10)
    talk = Talk(service, "full")
    for number in range(3):
        talk.say(f"m{number}", f"h{number}")
    assert len(service.history(talk.id)) == 10
    service.gateway.pruning.sweep()
    assert len(service.history(talk.id)) == 4
    for number in range(3, 6):
        talk.say(f"m{number}", f"h{number}")
        service.gateway.pruning.sweep()
    assert len(service.history(talk.id)) == 13, "ten more have not been stored"
    talk.say("m6", "h6")
    service.gateway.pruning.sweep()
    assert len(service.history(talk.id)) == 8
    assert talk.texts() == [text for number in range(7) for text in (f"m{number}", f"echo: m{number}")]


def test_the_log_of_a_run_reads_the_same_after_its_steps_were_pruned(serve: Callable[..., Service]) -> None:
    service = serve(graphs=GRAPHS)
    talk = Talk(service, "full")
    talk.say("hello", "h1")
    run = talk.say("again", "h2", stream_mode=["values", "checkpoints", "debug"])
    before = service.rejoin(talk.id, run)
    until(lambda: service.gateway.keeping.sweep() or service.rows("SELECT 1 FROM events WHERE ref IS NOT NULL"))
    assert service.gateway.pruning.prune(None, talk.id).removed > 0
    assert service.rejoin(talk.id, run) == before
    assert prune(service, [talk.id], strategy="keep_latest") == {"pruned_count": 1}
    assert service.rejoin(talk.id, run) == before
