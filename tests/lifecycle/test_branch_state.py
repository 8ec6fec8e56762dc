"""What a branch holds, and what is left where none can be made, through HTTP, in both checkpoint modes."""

import pytest

from tests.lifecycle import channel_kinds, stored
from tests.lifecycle.asking import Talk
from tests.lifecycle.branches import REFUSAL, branch, refused
from tests.lifecycle.conftest import Shared
from tests.lifecycle.prepared import answer

MODES = pytest.mark.parametrize("mode", ["full", "delta"])


@MODES
def test_channels_of_every_kind_are_plain_in_a_branch_and_not_doubled_sandbox_and_thread_data_are_left_out(
    shared: Shared, mode: str
) -> None:
    talk = Talk(shared(graphs=channel_kinds.GRAPHS), mode)
    talk.say("one", "h1")
    talk.say("two", "h2")
    source = talk.service.state(talk.id)["values"]
    made = Talk(talk.service, mode, branch(talk.service, talk.id, answer(talk))["thread_id"])
    head, before = talk.service.history(made.id)
    kept = {name: value for name, value in source.items() if name not in ("sandbox", "thread_data")}
    assert head["values"] == kept
    assert (before["values"]["notes"], before["values"]["maybe"], before["values"]["total"]) == (["n1"], {"k1": 1}, 1)
    made.say("three", "h3")
    later = talk.service.state(made.id)["values"]
    assert (later["notes"], later["total"], later["plain"]) == (["n1", "n2", "n3"], 3, "p3")
    assert later["maybe"] == {"k1": 1, "k2": 1, "k3": 1}
    assert [message["id"] for message in later["messages"]] == ["h1", "r1", "h2", "r2", "h3", "r3"]


@MODES
def test_a_target_that_is_a_tool_message_or_half_a_turn_is_refused_and_nothing_is_left(
    shared: Shared, mode: str
) -> None:
    agent = Talk(shared(checkpoint_mode=mode, snapshot_frequency=3), "agent")
    agent.say("What is 2*(3+4)?", "h1")
    messages = agent.service.state(agent.id)["values"]["messages"]
    [tool] = [message["id"] for message in messages if message["type"] == "tool"]
    [called, last] = [message["id"] for message in messages if message["type"] == "ai"]
    for target in (tool, called, "h1__user", "h1", "absent"):
        assert refused(agent.service, agent.id, target) == REFUSAL
    made = branch(agent.service, agent.id, last)["thread_id"]
    assert agent.service.state(made)["values"]["messages"] == messages
    talk = Talk(shared(graphs=stored.GRAPHS), mode)
    talk.say("!ask", "h1")
    assert refused(talk.service, talk.id, answer(talk)) == REFUSAL
    talk.resume("yes")
    first, last = answer(talk, 0), answer(talk)
    assert talk.texts() == ["!ask", "!ask", "gone on"]
    assert refused(talk.service, talk.id, first) == REFUSAL
    assert branch(talk.service, talk.id, last, message_ids=[first])["parent_thread_id"] == talk.id


@MODES
@pytest.mark.parametrize("table", ["threads", "checkpoints", "head_values"])
def test_an_insert_that_fails_leaves_no_row_of_a_branch(shared: Shared, mode: str, table: str) -> None:
    talk = Talk(shared(graphs=stored.GRAPHS), mode)
    talk.say("one", "h1")
    body, before = {"message_id": answer(talk)}, talk.service.counts()
    file = talk.service.gateway.db
    with file.writing() as connection:
        connection.execute(f"CREATE TRIGGER full BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")
    try:
        with talk.service.call("POST", f"/threads/{talk.id}/branches", body) as answered:
            assert answered.status_code == 500
    finally:
        with file.writing() as connection:
            connection.execute("DROP TRIGGER full")
    assert talk.service.counts() == before
    talk.service.ask("POST", f"/threads/{talk.id}/branches", body)
