"""Regenerate and edit on branches, by the embedded agent, which moves prompts to other ids inside the run."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.branches import answers, branch, path, talk
from tests.service import Service

MODES = pytest.mark.parametrize("mode", ["full", "delta"])


def shown(service: Service, thread: str) -> list[tuple[str, str]]:
    """Give (type, text) of the visible messages at the head."""
    messages = service.state(thread)["values"]["messages"]
    hidden = [one for one in messages if (one["additional_kwargs"] or {}).get("hide_from_ui")]
    return [(one["type"], one["content"]) for one in messages if one not in hidden and one["type"] in ("human", "ai")]


def asked(service: Service, thread: str) -> list[str]:
    return [text for kind, text in shown(service, thread) if kind == "human"]


def users(service: Service, thread: str) -> list[str]:
    messages = service.state(thread)["values"]["messages"]
    return [
        one["id"] for one in messages if one["type"] == "human" and not one["additional_kwargs"].get("hide_from_ui")
    ]


def replay(service: Service, thread: str, verb: str, status: int = 200, **body: Any) -> Any:
    run = service.ask("POST", f"/threads/{thread}/runs/{verb}", body, status)
    if status == 200:
        service.join(thread, run["run_id"])
    return run


@MODES
def test_the_inherited_turn_of_a_branch_is_regenerated_and_edited_and_earlier_turns_stay(
    serve: Callable[..., Service], mode: str
) -> None:
    service = serve(checkpoint_mode=mode, snapshot_frequency=3)
    thread = talk(service, "agent", "first", "second", "third")
    before = shown(service, thread)
    made = branch(service, thread, answers(service, thread)[1])["thread_id"]
    old = answers(service, made)
    replay(service, made, "regenerate", message_id=old[-1])
    assert asked(service, made) == ["first", "second"]
    assert answers(service, made)[0] == old[0] and answers(service, made)[1] != old[1]
    replay(service, made, "edit", human_message_id=users(service, made)[-1], replacement_text="other")
    assert asked(service, made) == ["first", "other"]
    assert "second" not in str(service.state(made)["values"])
    assert shown(service, thread) == before


@MODES
def test_the_first_turn_alone_is_branched_edited_and_goes_on(serve: Callable[..., Service], mode: str) -> None:
    service = serve(checkpoint_mode=mode, snapshot_frequency=3)
    thread = talk(service, "agent", "first", "second")
    made = branch(service, thread, answers(service, thread)[0])["thread_id"]
    assert asked(service, made) == ["first"]
    replay(service, made, "edit", human_message_id=users(service, made)[0], replacement_text="other")
    assert asked(service, made) == ["other"]
    service.wait(made, "agent", "more")
    assert asked(service, made) == ["other", "more"]
    assert asked(service, thread) == ["first", "second"]


@MODES
def test_a_branch_of_a_branch_replays_its_own_turn_and_the_last_inherited_one_alone(
    serve: Callable[..., Service], mode: str
) -> None:
    service = serve(checkpoint_mode=mode, snapshot_frequency=3)
    thread = talk(service, "agent", "first", "second")
    one = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    service.wait(one, "agent", "third")
    two = branch(service, one, answers(service, one)[-1])["thread_id"]
    service.wait(two, "agent", "fourth")
    for number in (3, 2):
        replay(service, two, "regenerate", message_id=answers(service, two)[number])
    assert asked(service, two) == ["first", "second", "third"]
    for number in (0, 1):
        refused = replay(service, two, "regenerate", 409, message_id=answers(service, two)[number])
        assert one in refused["detail"]
    assert path(service, one)[-2] == "third"
