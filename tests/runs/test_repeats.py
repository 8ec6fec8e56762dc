"""Idempotency-Key: a post that is sent again gives the first run, in the form of its endpoint."""

from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Service, frames, human, texts


def send(service: Service, path: str, body: Any, key: str | None = "k", status: int = 200) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    with service.call("POST", path, body, headers=headers) as answer:
        assert answer.status_code == status, answer.get_data()
        if answer.mimetype == "text/event-stream":
            return list(frames(iter([answer.get_data()])))
        return answer.get_json()


def turn(text: str, **more: Any) -> dict[str, Any]:
    return {"assistant_id": "held", "input": human(text)} | more


@pytest.mark.parametrize("mount", ["", "/api", "/api/langgraph"])
def test_the_same_post_gives_the_first_run(service: Service, mount: str) -> None:
    thread = service.thread()
    for form in ("", "/stream", "/wait"):
        path = f"{mount}/threads/{thread}/runs{form}"
        first = send(service, path, turn(f"a{form}"))
        if not form:
            service.join(thread, first["run_id"])
        runs = len(service.get(thread, "/runs"))
        again = send(service, path, turn(f"a{form}"))
        assert again["run_id"] == first["run_id"] if not form else again == first, form
        assert len(service.get(thread, "/runs")) == runs
    assert len(texts(service.state(thread)["values"])) == 6


def test_at_every_mount_the_path_is_the_same(service: Service) -> None:
    thread = service.thread()
    runs = {
        send(service, f"{mount}/threads/{thread}/runs", turn("a"))["run_id"] for mount in ("", "/api", "/api/langgraph")
    }
    assert len(runs) == 1


def test_it_is_answered_while_the_first_runs_whatever_the_strategy(service: Service, gate: Gate) -> None:
    thread = service.thread()
    body = turn(gate.text, multitask_strategy="reject")
    first = send(service, f"/threads/{thread}/runs", body)
    gate.await_reached()
    assert send(service, f"/threads/{thread}/runs", body)["run_id"] == first["run_id"]
    assert send(service, f"/threads/{thread}/runs", body, "other", 409)
    assert send(service, f"/threads/{thread}/runs", body, None, 409)


def test_the_same_key_with_another_body_is_refused(service: Service) -> None:
    thread = service.thread()
    send(service, f"/threads/{thread}/runs/wait", turn("a"))
    refused = send(service, f"/threads/{thread}/runs/wait", turn("b"), status=422)
    assert list(refused["errors"]) == ["Idempotency-Key"]
    assert len(service.get(thread, "/runs")) == 1


def test_the_order_of_fields_and_white_space_make_no_other_body(service: Service) -> None:
    thread = service.thread()
    first = send(service, f"/threads/{thread}/runs", turn("a"))
    body = b'{ "input": {"messages": [{"id": "h-a", "content": "a", "type": "human"}]}, "assistant_id": "held" }'
    headers = {"Idempotency-Key": "k"}
    with service.client.post(f"/threads/{thread}/runs", data=body, headers=headers) as answer:
        assert answer.get_json()["run_id"] == first["run_id"]


def test_a_key_counts_for_one_path_only(service: Service) -> None:
    one, other = service.thread(), service.thread()
    runs = {
        send(service, f"/threads/{thread}/runs{form}", turn("a"))[key]
        for thread in (one, other)
        for form, key in (("", "run_id"),)
    }
    assert len(runs) == 2
    send(service, f"/threads/{one}/runs/wait", turn("b"))
    assert len(service.get(one, "/runs")) == 2


def test_it_goes_with_its_run(service: Service) -> None:
    thread = service.thread()
    send(service, f"/threads/{thread}/runs/wait", turn("a"))
    run = service.get(thread, "/runs")[0]["run_id"]
    service.ask("DELETE", f"/threads/{thread}/runs/{run}", status=204)
    assert texts(send(service, f"/threads/{thread}/runs/wait", turn("b"))) == ["a", "echo: a", "b", "echo: b"]


@pytest.mark.parametrize(("length", "status"), [(255, 200), (256, 422)])
def test_a_key_has_255_characters_at_most(service: Service, length: int, status: int) -> None:
    thread = service.thread()
    answer = send(service, f"/threads/{thread}/runs/wait", turn("a"), "k" * length, status)
    assert list(answer.get("errors", [])) == (["Idempotency-Key"] if status == 422 else [])
    assert len(service.get(thread, "/runs")) == (status == 200)


def test_a_replay_in_one_step_is_given_once(service: Service) -> None:
    thread = service.thread()
    said = service.wait(thread, "chat", "a")["messages"]
    question = {"human_message_id": said[0]["id"], "replacement_text": "b"}
    for form, body in (("regenerate", {"message_id": said[1]["id"]}), ("edit", question)):
        first = send(service, f"/threads/{thread}/runs/{form}", body)
        service.join(thread, first["run_id"])
        assert send(service, f"/threads/{thread}/runs/{form}", body)["run_id"] == first["run_id"]
        if form == "regenerate":
            question["human_message_id"] = service.state(thread)["values"]["messages"][0]["id"]
    assert len(service.get(thread, "/runs")) == 3


def test_stateless_runs_are_told_by_it_while_they_are_known(service: Service, gate: Gate) -> None:
    body = turn(gate.text)
    first = send(service, "/runs", body)
    gate.await_reached()
    assert send(service, "/runs", body)["run_id"] == first["run_id"]
    kept = turn("a", on_completion="keep")
    assert len({send(service, "/runs/stream", kept)[0].data["thread_id"] for _ in range(2)}) == 1
    batch = [turn("b", on_completion="keep"), turn("b", on_completion="keep")]
    runs = [run["run_id"] for run in send(service, "/runs/batch", batch)]
    assert [run["run_id"] for run in send(service, "/runs/batch", batch)] == runs and len(set(runs)) == 2
