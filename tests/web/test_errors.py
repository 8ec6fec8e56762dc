"""Every error of the domain has one status and one shape."""

import inspect
import logging
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.exceptions import RequestEntityTooLarge

from deerflow_lite import errors
from deerflow_lite.web.errors import status_of

STATUS = {
    "Invalid": 422, "TooLarge": 413, "GraphRefused": 400, "NotFound": 404, "ThreadUnknown": 404, "Conflict": 409,
    "CheckpointUnknown": 404, "RunUnknown": 404, "AssistantUnknown": 404, "ThreadExists": 409, "ThreadIdTaken": 409,
    "RunActive": 409, "NothingToResume": 409, "HeadStale": 409, "ModeMismatch": 409, "ChannelLost": 409,
    "LineageBroken": 409, "Forbidden": 403, "Unavailable": 503, "QueueFull": 503, "StreamsFull": 503, "Stopping": 503,
    "MessageUnknown": 404, "BranchRefused": 409, "ReplayRefused": 409, "ParentMissing": 409, "LineageCycle": 409,
    "LineageTooDeep": 409, "CheckpointUnreadable": 409, "TypeBlocked": 409,
    "TurnUnknown": 404, "HeadUnsettled": 409, "TurnSelected": 409,
    "GraphBroken": 409, "DeerflowError": 500, "SettingInvalid": 500, "FileRefused": 500,
    "TokenUnknown": 404, "TokenAmbiguous": 404, "CallerUnknown": 401,
}  # fmt: skip


def answer_to(make: Callable[..., Flask], error: Exception) -> Any:
    app = make()

    def fail() -> str:
        raise error

    app.add_url_rule("/fail", "fail", fail)
    return app.test_client().get("/fail")


def test_every_error_of_the_tree_has_its_status() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.DeerflowError)]
    assert {kind.__name__: status_of(kind.__new__(kind)) for kind in kinds} == STATUS


def test_a_refusal_tells_its_sentence_and_its_fields(make: Callable[..., Flask]) -> None:
    answer = answer_to(make, errors.Invalid({"a": ["is bad"], "b.c": ["is worse", "is late"]}))
    assert (answer.status_code, answer.json) == (
        422,
        {"detail": "a: is bad; b.c: is worse is late", "errors": {"a": ["is bad"], "b.c": ["is worse", "is late"]}},
    )  # fmt: skip


def test_what_may_work_later_says_when(make: Callable[..., Flask]) -> None:
    answer = answer_to(make, errors.QueueFull("the queue is full", 7))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "7")
    assert answer.json == {"detail": "the queue is full"}


@pytest.mark.parametrize(
    "words",
    ["database is locked", "database or disk is full", "attempt to write a readonly database", "disk I/O error"],
)
def test_a_database_that_cannot_be_written_now_is_503(make: Callable[..., Flask], words: str) -> None:
    answer = answer_to(make, sqlite3.OperationalError(words))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert words in answer.json["detail"]


def test_an_error_nobody_foresaw_is_told_without_its_inside_and_logged_with_it(
    make: Callable[..., Flask], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = answer_to(make, KeyError("secret"))
    assert (answer.status_code, answer.json) == (
        500,
        {"detail": "internal error", "request_id": answer.headers["X-Request-Id"]},
    )
    assert "KeyError: 'secret'" in caplog.text


def test_errors_of_the_router_and_of_flask_are_json(make: Callable[..., Flask]) -> None:
    answer = answer_to(make, RequestEntityTooLarge())
    assert (answer.status_code, answer.mimetype) == (413, "application/json")
