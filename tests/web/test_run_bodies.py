"""Odd bodies of runs and replays: refused by the name of the field, or the graph says what it makes of them."""

from typing import Any

import pytest

from tests.service import Service


def bodies(answered: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Give what to send below `/runs`, by path."""
    plain = {"assistant_id": "chat", "input": {"messages": []}}
    question = {"human_message_id": answered[0]["id"], "replacement_text": "b"}
    return {
        "": plain,
        "/wait": plain,
        "/stream": plain,
        "/regenerate": {"message_id": answered[1]["id"]},
        "/edit": question,
    }


def test_channels_to_drop_that_are_no_list_of_names_are_refused(service: Service) -> None:
    thread = service.thread()
    for path, body in bodies(service.wait(thread, "chat", "a")["messages"]).items():
        for names in (5, "title", {"title": 1}, True, [5], [[]], [{}], [None]):
            config = {"configurable": {"drop_channels": names}}
            refused = service.ask("POST", f"/threads/{thread}/runs{path}", body | {"config": config}, status=422)
            assert list(refused["errors"]) == ["config.configurable.drop_channels"], (path, names)
    assert len(service.get(thread, "/runs")) == 1


@pytest.mark.parametrize("names", [None, [], ["title"], ["a", "b"]])
def test_channels_to_drop_are_a_list_of_names_or_nothing(service: Service, names: Any) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a", config={"configurable": {"drop_channels": names}})
    service.wait(thread, "chat", "b", config={"configurable": {"drop_channels": names}})


@pytest.mark.parametrize("odd", ["x", [1], 5, True])
def test_a_message_with_odd_additional_arguments_is_refused_by_the_graph(service: Service, odd: Any) -> None:
    thread = service.thread()
    given = {"messages": [{"role": "user", "content": "a", "additional_kwargs": odd}]}
    assert list(service.wait(thread, "chat", given)) == ["__error__"]
    assert service.get(thread)["status"] == "error"


def test_what_must_be_an_object_and_is_none_is_refused_by_its_own_name(service: Service) -> None:
    at = f"/threads/{service.thread()}"
    given = {"assistant_id": "noop"}
    for path, body, field, reason in (
        (f"{at}/runs", given | {"config": 5}, "config", "must be an object"),
        (f"{at}/runs", given | {"command": "x"}, "command", "must be an object"),
        (f"{at}/runs", given | {"checkpoint": []}, "checkpoint", "must be an object"),
        ("/runs/batch", [given, 5], "1", "must be an object"),
        ("/threads", given | {"supersteps": [5]}, "supersteps.0", "must be an object"),
        (f"{at}/state/checkpoint", {"checkpoint": 5}, "checkpoint", "must be an object"),
        (f"{at}/state/checkpoint", {"checkpoint": None}, "checkpoint", "must not be null"),
        (f"{at}/state/checkpoint", {}, "checkpoint", "is required"),
        (f"{at}/state", {"values": {}, "checkpoint": 5}, "checkpoint", "must be an object"),
        (f"{at}/history", {"checkpoint": 5}, "checkpoint", "must be an object"),
    ):
        refused = service.ask("POST", path, body, status=422)
        assert refused == {"detail": f"{field}: {reason}", "errors": {field: [reason]}}


def test_a_refusal_names_the_field_that_was_sent(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "a")
    edit = {"human_message_id": "no", "replacement_text": "b"}
    for method, path, body, field in (
        ("POST", "/runs/edit", edit, "human_message_id: message no"),
        ("POST", "/runs/edit-regenerate/prepare", edit, "human_message_id: message no"),
        ("POST", "/runs/regenerate", {"message_id": "no"}, "message_id: message no"),
        ("POST", "/history", {"before": "no"}, "before: checkpoint no"),
        ("GET", "/history?before=no", None, "before: checkpoint no"),
        ("POST", "/history", {"checkpoint": {"checkpoint_id": "no"}}, "checkpoint_id: checkpoint no"),
        ("GET", "/turns?before=no", None, "before: turn no"),
        ("DELETE", "/turns/no", None, "turn_id: turn no"),
    ):  # fmt: skip
        refused = service.ask(method, f"/threads/{thread}{path}", body, status=404)
        assert refused["detail"] == f"{field} does not exist in this thread"
