"""Many callers at once: one row for one id, and no merge is lost; over both stores."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

CALLERS = 8


def at_once(app: Flask, ask: Callable[[Any, int], Any]) -> list[Any]:
    """Call with one client each, all released by one barrier."""
    barrier = threading.Barrier(CALLERS)

    def call(number: int) -> Any:
        client = app.test_client()
        barrier.wait()
        return ask(client, number)

    with ThreadPoolExecutor(CALLERS) as pool:
        return list(pool.map(call, range(CALLERS)))


@pytest.fixture
def app(make: Callable[..., Flask], store: str) -> Flask:
    return make(store=store)


def test_one_id_made_by_many_is_one_thread(app: Flask) -> None:
    answers = at_once(app, lambda client, _: client.post("/threads", json={"thread_id": "same"}))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    raised = at_once(app, lambda client, _: client.post("/threads", json={"thread_id": "x", "if_exists": "raise"}))
    assert sorted(answer.status_code for answer in raised) == [200] + [409] * (CALLERS - 1)
    assert app.test_client().post("/threads/count").json == 2


def test_merges_of_many_callers_all_survive(app: Flask) -> None:
    app.test_client().post("/threads", json={"thread_id": "t"})

    def merge(client: Any, number: int) -> list[int]:
        keys = [f"k{number}-{turn}" for turn in range(10)]
        return [client.patch("/threads/t", json={"metadata": {key: 1}}).status_code for key in keys]

    assert at_once(app, merge) == [[200] * 10] * CALLERS
    assert len(app.test_client().get("/threads/t").json["metadata"]) == CALLERS * 10


def test_a_thread_deleted_by_many_is_deleted_once(app: Flask) -> None:
    app.test_client().post("/threads", json={"thread_id": "t"})
    answers = at_once(app, lambda client, _: client.delete("/threads/t").status_code)
    assert sorted(answers) == [204] + [404] * (CALLERS - 1)
