"""The first conversation, over both thread stores."""

from collections.abc import Callable

import pytest

from tests.service import Service, texts


@pytest.mark.parametrize("store", ["sqlite", "memory"])
def test_a_conversation_of_two_turns_is_answered_listed_and_read(serve: Callable[..., Service], store: str) -> None:
    service = serve(store=store)
    thread = service.thread()
    assert texts(service.wait(thread, "chat", "a")) == ["a", "echo: a"]
    assert texts(service.wait(thread, "chat", "b")) == ["a", "echo: a", "b", "echo: b"]
    shown = service.get(thread)
    assert (shown["status"], shown["title"], texts(shown["values"])) == ("idle", "a", ["a", "echo: a", "b", "echo: b"])
    assert [row["thread_id"] for row in service.ask("POST", "/threads/search", {})] == [thread]
    assert (
        service.state(thread)["checkpoint_id"]
        == shown["head_checkpoint_id"]
        == service.history(thread)[0]["checkpoint_id"]
    )
    assert service.call("DELETE", f"/threads/{thread}").status_code == 204
    assert service.call("GET", f"/threads/{thread}/state").status_code == 404


@pytest.mark.parametrize("store", ["sqlite", "memory"])
def test_an_interrupt_is_answered_over_both_stores(serve: Callable[..., Service], store: str) -> None:
    service = serve(store=store)
    thread = service.thread()
    service.wait(thread, "ask", "a")
    assert service.get(thread)["status"] == "interrupted"
    assert texts(service.wait(thread, "ask", command={"resume": "yes"})) == ["a", "may I?", "approved=True"]
    assert service.get(thread)["status"] == "idle"


def test_a_setting_that_names_many_graphs_is_read(serve: Callable[..., Service]) -> None:
    service = serve(graphs=",".join(f"chat{number}=tests.sample_graphs:chat" for number in range(20)))
    thread = service.thread()
    assert texts(service.wait(thread, "chat19", "a")) == ["a", "echo: a"]
