"""What a run streams: order, names and shapes of the events, mode by mode."""

import re
import threading
from typing import Any

import pytest

from tests.runs.gates import Gate
from tests.service import Frame, Service, human, texts

MODES = ("values", "updates", "messages", "messages-tuple", "custom", "tasks", "checkpoints", "debug", "events")
TASK_START = {"id", "name", "input", "triggers", "metadata"}
TASK_END = {"id", "name", "error", "result", "interrupts"}
CHECKPOINT = {"config", "parent_config", "values", "metadata", "next", "tasks"}


def inside(frames: list[Frame]) -> list[tuple[str, Any]]:
    """Check the frame of a stream and give what stands between `metadata` and `end`."""
    assert [frame.id for frame in frames] == list(range(1, len(frames) + 1))
    assert (frames[0].event, frames[-1].event, frames[-1].data) == ("metadata", "end", None)
    return [(frame.event, frame.data) for frame in frames[1:-1]]


def test_a_stream_begins_with_metadata_and_ends_with_end(service: Service) -> None:
    thread = service.thread()
    frames = service.stream(thread, "noop", "a")
    run = service.get(thread, "/runs")[0]["run_id"]
    assert frames[0].data == {"run_id": run, "attempt": 1, "thread_id": thread}
    assert [(name, texts(data)) for name, data in inside(frames)] == [("values", ["a"]), ("values", ["a"])] or [
        (name, texts(data)) for name, data in inside(frames)
    ] == [("values", ["a"])]


def test_values_are_whole_states_and_a_message_has_langgraphs_shape(service: Service) -> None:
    events = inside(service.stream(service.thread(), "chat", "hello", stream_mode="values"))
    asked = {
        "content": "hello", "additional_kwargs": {}, "response_metadata": {}, "type": "human",
        "name": None, "id": "h-hello",
    }  # fmt: skip
    answered = events[-1][1]["messages"][1]
    assert events == [
        ("values", {"messages": [asked]}), ("values", {"messages": [asked, answered], "title": "hello"}),
    ]  # fmt: skip
    assert answered == {
        "content": "echo: hello", "additional_kwargs": {}, "response_metadata": {}, "type": "ai", "name": None,
        "id": answered["id"], "tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None,
    }  # fmt: skip


@pytest.mark.parametrize("mode", [None, []])
def test_without_a_mode_values_are_streamed(service: Service, mode: Any) -> None:
    events = inside(service.stream(service.thread(), "chat", "a", stream_mode=mode))
    assert [name for name, _ in events] == ["values", "values"]


def test_updates_are_what_each_node_gave(service: Service) -> None:
    events = inside(service.stream(service.thread(), "twice", "a", stream_mode="updates"))
    assert [(name, list(data), texts(data[list(data)[0]])) for name, data in events] == [
        ("updates", ["first"], ["echo: a"]), ("updates", ["second"], ["echo: echo: a"]),
    ]  # fmt: skip
    assert inside(service.stream(service.thread(), "noop", "a", stream_mode="updates")) == [
        ("updates", {"nothing": None})
    ]


def test_messages_are_the_message_so_far_after_its_metadata(service: Service) -> None:
    events = inside(service.stream(service.thread(), "chat", "hello", stream_mode="messages"))
    assert [name for name, _ in events] == ["messages/metadata", *["messages/partial"] * (len(events) - 1)]
    parts = [data for name, data in events if name == "messages/partial"]
    assert [one["content"] for (one,) in parts] == ["echo:", "echo: ", "echo: hello"]
    (message_id,) = events[0][1]
    assert {one["id"] for (one,) in parts} == {message_id} and {one["type"] for (one,) in parts} == {"ai"}
    assert events[0][1][message_id]["metadata"]["langgraph_node"] == "reply"


def test_messages_tuple_are_chunks_with_their_metadata(service: Service) -> None:
    thread = service.thread()
    events = inside(service.stream(thread, "chat", "hello", stream_mode="messages-tuple"))
    assert [(name, chunk["content"], chunk["type"]) for name, (chunk, _) in events] == [
        ("messages", part, "AIMessageChunk") for part in ("echo:", " ", "hello")
    ]
    assert [chunk["chunk_position"] for _, (chunk, _) in events] == [None, None, "last"]
    final = service.state(thread)["values"]["messages"][-1]
    assert {chunk["id"] for _, (chunk, _) in events} == {final["id"]}
    about = events[0][1][1]
    run = service.get(thread, "/runs")[0]
    assert (about["langgraph_node"], about["langgraph_step"]) == ("reply", 2)
    assert {name: about[name] for name in ("run_id", "thread_id", "graph_id", "assistant_id")} == {
        "run_id": run["run_id"], "thread_id": thread, "graph_id": "chat", "assistant_id": run["assistant_id"],
    }  # fmt: skip


def test_custom_events_are_what_the_writer_sent(service: Service) -> None:
    events = inside(service.stream(service.thread(), "chat", "a", stream_mode="custom"))
    assert events == [("custom", {"progress": "replied", "messages": 1})]
    events = inside(service.stream(service.thread(), "writer", "250", stream_mode="custom"))
    assert events == [("custom", {"number": number}) for number in range(250)]


def test_tasks_start_and_end(service: Service) -> None:
    events = inside(service.stream(service.thread(), "twice", "a", stream_mode="tasks"))
    assert [(name, data["name"], set(data)) for name, data in events] == [
        ("tasks", "first", TASK_START), ("tasks", "first", TASK_END),
        ("tasks", "second", TASK_START), ("tasks", "second", TASK_END),
    ]  # fmt: skip
    start, end = events[0][1], events[1][1]
    assert (start["id"], start["triggers"], texts(start["input"])) == (end["id"], ["branch:to:first"], ["a"])
    assert (end["error"], end["interrupts"], texts(end["result"])) == (None, [], ["echo: a"])


def test_checkpoints_are_those_of_the_history(service: Service) -> None:
    thread = service.thread()
    events = inside(service.stream(thread, "noop", "a", stream_mode="checkpoints"))
    assert {name for name, _ in events} == {"checkpoints"}
    assert all(set(data) == CHECKPOINT for _, data in events)
    streamed = [data["config"]["configurable"]["checkpoint_id"] for _, data in events]
    assert streamed == [state["checkpoint_id"] for state in service.history(thread)][::-1][1:]
    assert [data["next"] for _, data in events] == [["__start__"], ["nothing"], []]
    assert [data["metadata"]["step"] for _, data in events] == [0, 1, 2]


def test_debug_wraps_checkpoints_and_tasks(service: Service) -> None:
    events = inside(service.stream(service.thread(), "noop", "a", stream_mode="debug"))
    assert [(name, data["type"], data["step"]) for name, data in events] == [
        ("debug", "checkpoint", 0), ("debug", "checkpoint", 1), ("debug", "task", 2), ("debug", "task_result", 2),
        ("debug", "checkpoint", 2),
    ]  # fmt: skip
    assert all(set(data) == {"step", "timestamp", "type", "payload"} for _, data in events)


def test_events_are_langchains(service: Service) -> None:
    thread = service.thread()
    events = inside(service.stream(thread, "chat", "a", stream_mode="events"))
    kinds = [(data["event"], data["name"]) for _, data in events]
    assert {name for name, _ in events} == {"events"}
    assert kinds[0] == ("on_chain_start", "chat") and kinds[-1] == ("on_chain_end", "chat")
    assert [kind for kind, _ in kinds].count("on_chat_model_stream") == 3
    assert events[0][1]["run_id"] == service.get(thread, "/runs")[0]["run_id"]
    both = inside(service.stream(service.thread(), "chat", "a", stream_mode=["values", "events"]))
    assert [texts(data) for name, data in both if name == "values"] == [["a"], ["a", "echo: a"]]


def test_several_modes_come_in_langgraphs_order(service: Service) -> None:
    modes = ["values", "messages-tuple", "updates", "custom"]
    events = inside(service.stream(service.thread(), "chat", "hello", stream_mode=modes))
    assert [name for name, _ in events] == ["values", "custom", *["messages"] * 3, "updates", "values"]


def test_subgraphs_are_labelled_with_their_namespace(service: Service) -> None:
    modes = ["values", "updates", "messages-tuple"]
    events = inside(service.stream(service.thread(), "nested", "a", stream_mode=modes, stream_subgraphs=True))
    names = [name for name, _ in events]
    (inner,) = {name.partition("|")[2] for name in names if "|" in name}
    assert re.fullmatch(r"inner:[0-9a-f-]{36}", inner)
    assert names == [
        "values", f"values|{inner}", *[f"messages|{inner}"] * 3, f"updates|{inner}", f"values|{inner}",
        "updates", "values", "updates",
    ]  # fmt: skip
    plain = inside(service.stream(service.thread(), "nested", "a", stream_mode=modes))
    assert not [name for name, _ in plain if "|" in name]
    assert [texts(data) for name, data in plain if name == "values"][-1] == ["a", "echo: a"]


def test_an_error_after_streamed_tokens_is_an_event_before_the_end(service: Service) -> None:
    thread = service.thread()
    events = inside(service.stream(thread, "halfway", "a", stream_mode=["values", "messages-tuple"]))
    assert [name for name, _ in events] == ["values", *["messages"] * 5, "error"]
    assert events[-1][1] == {"error": "RuntimeError", "message": "half way"}
    assert texts(service.state(thread)["values"]) == ["a"]


@pytest.mark.parametrize("mode", MODES)
def test_a_failing_run_ends_its_stream_in_every_mode(service: Service, mode: str) -> None:
    thread = service.thread()
    frames = service.stream(thread, "boom", "a", stream_mode=mode)
    inside(frames)
    assert [frame.event for frame in frames[-2:]] == ["error", "end"]
    assert service.rejoin(thread, frames[0].data["run_id"]) == frames


def test_two_followers_and_one_who_comes_late_get_the_same(service: Service, gate: Gate) -> None:
    thread = service.thread()
    run = service.start(thread, "held", gate.text, stream_mode=["custom", "values", "messages-tuple"])["run_id"]
    gate.await_reached()
    got: list[list[Frame]] = []
    followers = [threading.Thread(target=lambda: got.append(service.rejoin(thread, run))) for _ in range(2)]
    for follower in followers:
        follower.start()
    gate.open()
    for follower in followers:
        follower.join(20)
    late = service.rejoin(thread, run)
    assert got == [late, late] and len(late) >= 7


def test_streams_of_two_threads_never_mix(service: Service) -> None:
    threads = [service.thread() for _ in range(8)]
    got: dict[int, list[Frame]] = {}
    barrier = threading.Barrier(8)

    def follow(number: int) -> None:
        barrier.wait(10)
        body = {"assistant_id": "writer", "input": human("200", f"h{number}"), "stream_mode": ["custom", "values"]}
        run = service.ask("POST", f"/threads/{threads[number]}/runs", body)["run_id"]
        got[number] = service.rejoin(threads[number], run)

    followers = [threading.Thread(target=follow, args=(number,)) for number in range(8)]
    for follower in followers:
        follower.start()
    for follower in followers:
        follower.join(60)
    for number, thread in enumerate(threads):
        events = inside(got[number])
        assert [data["number"] for name, data in events if name == "custom"] == list(range(200))
        assert {message["id"] for name, data in events if name == "values" for message in data["messages"][:1]} == {
            f"h{number}"
        }
        assert got[number][0].data["thread_id"] == thread
    stored = service.rows("SELECT run, count(*), min(id), max(id) FROM events GROUP BY run")
    assert [(least, most == count) for _, count, least, most in stored] == [(1, True)] * 8
