"""What is done with each method of LangGraph's Python client, by the method's name; every call stands alone."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError

from tests.clients.either import Either
from tests.service import human, texts, until

Check = Callable[[Either], None]
CHECKS: dict[str, list[Check]] = {}
ONE = ["one", "echo: one"]


def checks(*names: str) -> Callable[[Check], Check]:
    def named(check: Check) -> Check:
        for name in names:
            CHECKS.setdefault(name, []).append(check)
        return check

    return named


def gone(client: Either, run: Any) -> bool:
    try:
        client.runs.get(run["thread_id"], run["run_id"])
    except NotFoundError:
        return True
    return False


def thread(client: Either, **more: Any) -> str:
    return str(client.threads.create(**more)["thread_id"])


def told(client: Either, *said: str) -> str:
    """Give a thread in which this was said."""
    made = thread(client)
    for text in said:
        client.runs.wait(made, "talk", input=human(text))
    return made


@checks("assistants.search", "assistants.count", "assistants.get")
def assistants_are_listed(client: Either) -> None:
    found = client.assistants.search(graph_id="talk")
    assert [one["name"] for one in found] == ["talk"]
    assert client.assistants.count(graph_id="talk") == 1
    assert client.assistants.get(found[0]["assistant_id"]) == found[0]


@checks("assistants.get_graph", "assistants.get_schemas", "assistants.get_subgraphs")
def an_assistants_graph_is_described(client: Either) -> None:
    [assistant] = client.assistants.search(graph_id="nested")
    drawn = client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert {"__start__", "after", "__end__"} < {node["id"] for node in drawn["nodes"]}
    assert client.assistants.get_schemas(assistant["assistant_id"])["graph_id"] == "nested"
    assert list(client.assistants.get_subgraphs(assistant["assistant_id"])) == ["inner"]


@checks("threads.create", "threads.get", "threads.update", "threads.delete")
def a_thread_is_made_changed_and_deleted(client: Either) -> None:
    made = client.threads.create(metadata={"a": 1}, graph_id="talk", if_exists="raise")
    assert client.threads.get(made["thread_id"]) == made
    assert made["metadata"]["a"] == 1
    merged = client.threads.update(made["thread_id"], metadata={"b": None})["metadata"]
    assert merged == made["metadata"] | {"b": None}
    assert client.threads.update(made["thread_id"], metadata={}, return_minimal=True) is None
    assert client.threads.delete(made["thread_id"]) is None
    assert client.threads.search(ids=[made["thread_id"]]) == []


@checks("threads.search", "threads.count")
def threads_are_found(client: Either) -> None:
    mark = str(uuid.uuid4())
    ids = [thread(client, metadata={"mark": mark, "number": number}) for number in range(3)]
    found = client.threads.search(metadata={"mark": mark}, limit=2, sort_by="created_at", sort_order="asc")
    assert [one["thread_id"] for one in found] == ids[:2]
    chosen = {"ids": ids, "status": "idle", "select": ["thread_id"], "extract": {"number": "metadata.number"}}
    assert client.threads.search(metadata={"number": 2}, **chosen) == [
        {"thread_id": ids[2], "extracted": {"number": 2}}
    ]
    assert client.threads.count(metadata={"mark": mark}, status="idle") == 3


@checks("threads.copy")
def a_thread_is_copied(client: Either) -> None:
    source = told(client, "one")
    copy = client.threads.copy(source)["thread_id"]
    assert texts(client.threads.get_state(copy)["values"]) == ONE


@checks("threads.get_state", "threads.update_state", "threads.get_history")
def states_are_read_and_written(client: Either) -> None:
    made = told(client, "one")
    head = client.threads.get_state(made)
    place = head["checkpoint"]
    assert client.threads.get_state(made, checkpoint_id=place["checkpoint_id"])["values"] == head["values"]
    assert client.threads.get_state(made, checkpoint=place, subgraphs=True)["values"] == head["values"]
    more = {"messages": [{"type": "ai", "content": "more", "id": "m"}]}
    written = client.threads.update_state(made, more, as_node="reply", checkpoint=place)
    assert client.threads.get_state(made)["checkpoint"]["checkpoint_id"] == written["checkpoint"]["checkpoint_id"]
    states = client.threads.get_history(made, limit=100)
    assert texts(states[0]["values"]) == [*ONE, "more"]
    for before in (states[1]["checkpoint"], states[1]["checkpoint_id"]):
        assert client.threads.get_history(made, before=before, limit=1) == [states[2]]
    assert client.threads.get_history(made, metadata={"source": "update"}) == [states[0]]
    client.threads.update_state(made, {"title": "Mine"})
    assert client.threads.get(made)["title"] == client.threads.get_state(made)["values"]["title"] == "Mine"


@checks("runs.create", "runs.get", "runs.list", "runs.join", "runs.delete")
def a_run_is_made_and_waited_for(client: Either) -> None:
    made, heard = thread(client), []
    run = client.runs.create(made, "talk", input=human("one"), metadata={"a": 1}, on_run_created=heard.append)
    assert [dict(one) for one in heard] == [{"run_id": run["run_id"], "thread_id": made}]
    assert texts(client.runs.join(made, run["run_id"])) == ONE
    assert client.runs.get(made, run["run_id"])["status"] == "success"
    assert [one["run_id"] for one in client.runs.list(made, status="success", limit=5)] == [run["run_id"]]
    assert client.runs.delete(made, run["run_id"]) is None
    assert client.runs.list(made) == []


@checks("runs.wait")
def a_run_is_waited_for_and_its_failure_is_raised(client: Either) -> None:
    made = thread(client)
    assert texts(client.runs.wait(made, "talk", input=human("one"), config={"tags": ["a"]}, durability="sync")) == ONE
    failed = client.runs.wait(made, "talk", input=human("!boom"), raise_error=False)
    assert failed == {"__error__": {"error": "ValueError", "message": "boom"}}
    asked = client.runs.wait(thread(client), "ask", input=human("please"))
    assert asked["__interrupt__"][0]["value"]["question"] == "approve?"


@checks("runs.stream", "runs.join_stream")
def a_run_is_streamed_and_its_stream_taken_up(client: Either) -> None:
    made, heard = thread(client), []
    modes = ["values", "messages-tuple", "custom", "updates"]
    sent = {"input": human("one"), "stream_mode": modes, "stream_resumable": True, "on_run_created": heard.append}
    parts = client.runs.stream(made, "talk", **sent)
    assert parts[0].event == "metadata"
    assert [part.data[0]["content"] for part in parts if part.event == "messages"] == ["echo:", " one"]
    assert texts([part.data for part in parts if part.event == "values"][-1]) == ONE
    again = client.runs.join_stream(made, heard[0]["run_id"], last_event_id="0")
    assert [(part.event, part.data) for part in again] == [(part.event, part.data) for part in parts]
    later = client.runs.join_stream(made, heard[0]["run_id"], last_event_id=parts[2].id)
    assert [part.id for part in later] == [part.id for part in parts[3:]]
    newer = client.runs.stream(made, "talk", input=human("two"), stream_mode=["values"], version="v2")
    assert texts([part["data"] for part in newer if part["type"] == "values"][-1])[-1] == "echo: two"


@checks("runs.cancel")
def a_run_is_cancelled(client: Either) -> None:
    made = thread(client)
    run = client.runs.create(made, "talk", input=human("!hold /nowhere/at/all"))
    client.runs.cancel(made, run["run_id"], wait=True)
    assert client.runs.get(made, run["run_id"])["status"] == "interrupted"
    assert client.runs.cancel(made, run["run_id"]) is None
    assert texts(client.runs.wait(made, "talk", input=human("two")))[-1] == "echo: two"


@checks("runs.cancel_many")
def runs_are_cancelled_together(client: Either) -> None:
    made = thread(client)
    runs = [client.runs.create(made, "talk", input=human("!hold /nowhere/at/all"))["run_id"] for _ in range(2)]
    assert client.runs.cancel_many(thread_id=made, run_ids=runs) is None
    for run_id in runs:
        client.runs.join(made, run_id)
        assert client.runs.get(made, run_id)["status"] == "interrupted"


@checks("runs.create")
def a_strategy_and_a_delay_are_obeyed(client: Either) -> None:
    made = thread(client)
    held = {"input": human("!hold /nowhere/at/all")}
    first = client.runs.create(made, "talk", **held)["run_id"]
    with pytest.raises(ConflictError):
        client.runs.create(made, "talk", **held, multitask_strategy="reject")
    second = client.runs.create(made, "talk", **held, multitask_strategy="interrupt")["run_id"]
    client.runs.join(made, first)
    assert client.runs.get(made, first)["status"] == "interrupted"
    third = client.runs.wait(made, "talk", input=human("three"), multitask_strategy="rollback")
    assert texts(third)[-1] == "echo: three"
    with pytest.raises(NotFoundError):
        client.runs.get(made, second)
    late = client.runs.create(made, "talk", input=human("late"), after_seconds=600)
    assert (late["status"], client.threads.get(made)["status"]) == ("pending", "idle")
    assert client.runs.delete(made, late["run_id"]) is None


@checks("runs.wait", "runs.stream", "runs.create", "runs.create_batch")
def a_run_without_a_thread_leaves_nothing_behind(client: Either) -> None:
    before = client.threads.count()
    assert texts(client.runs.wait(None, "talk", input=human("one"))) == ONE
    parts = client.runs.stream(None, "talk", input=human("one"), stream_mode=["values"])
    assert texts([part.data for part in parts if part.event == "values"][-1]) == ONE
    alone = client.runs.create(None, "talk", input=human("one"))
    batch = client.runs.create_batch([{"assistant_id": "talk", "input": human(text)} for text in ("one", "two")])
    for run in (alone, *batch):
        until(lambda run=run: gone(client, run))
    assert client.threads.count() == before
    kept = client.runs.create(None, "talk", input=human("one"), on_completion="keep")
    assert texts(client.runs.join(kept["thread_id"], kept["run_id"])) == ONE
    assert texts(client.threads.get_state(kept["thread_id"])["values"]) == ONE


@checks("runs.create", "runs.wait", "runs.stream")
def a_post_that_is_sent_again_gives_its_first_run(client: Either) -> None:
    made, sent = thread(client), {"input": human("one"), "headers": {"Idempotency-Key": uuid.uuid4().hex}}
    first = client.runs.create(made, "talk", **sent)
    assert client.runs.create(made, "talk", **sent)["run_id"] == first["run_id"]
    with pytest.raises(UnprocessableEntityError):
        client.runs.create(made, "talk", **sent | {"input": human("two")})
    assert len(client.runs.list(made)) == 1


@checks("threads.prune")
def threads_are_cut_down_and_deleted(client: Either) -> None:
    kept, gone = told(client, "one", "two"), told(client, "one")
    assert client.threads.prune([kept], strategy="keep_latest") == {"pruned_count": 1}
    assert texts(client.threads.get_state(kept)["values"]) == [*ONE, "two", "echo: two"]
    assert len(client.threads.get_history(kept)) == 2
    assert client.threads.prune([gone, "nobody"]) == {"pruned_count": 1}
    assert client.threads.search(ids=[gone]) == []


@checks("store.put_item", "store.get_item", "store.search_items", "store.list_namespaces", "store.delete_item")
def items_are_kept(client: Either) -> None:
    place = ["notes", uuid.uuid4().hex]
    assert client.store.put_item(place, "a", {"n": 1}) is None
    assert client.store.get_item(place, "a")["value"] == {"n": 1}
    assert [one["key"] for one in client.store.search_items(place, filter={"n": 1})["items"]] == ["a"]
    assert client.store.list_namespaces(prefix=place)["namespaces"] == [place]
    assert client.store.delete_item(place, "a") is None
    assert client.store.search_items(place)["items"] == []
