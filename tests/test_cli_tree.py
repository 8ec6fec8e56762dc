"""How a thread's turns are drawn in the terminal, beside a running service."""

import json
from collections.abc import Callable

from tests.lifecycle.asking import Talk
from tests.processes import command
from tests.service import Service


def drawn(talk: Talk, *arguments: str) -> str:
    ran = command("threads", "tree", talk.id, *arguments, instance=talk.service.gateway.config.instance)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_a_conversation_goes_down_in_one_column_and_each_other_answer_has_its_own(
    serve: Callable[..., Service],
) -> None:
    talk = Talk(serve(), "chat")
    runs = [talk.say("Hello\x1b[31m there", "h1"), talk.say("two", "h2"), talk.say("three", "h3")]
    old = talk.head()
    base = talk.tree()["turns"][0]["checkpoint_id"]
    runs += [talk.say("other", "e2", base), talk.say("more", "e3"), talk.say("!boom", "e4", base)]
    assert drawn(talk).splitlines() == [
        f"● Hello�[31m there  {runs[0]}",
        f"├─ ○ 1/3 two  {runs[1]}",
        f"│  ○ three  {runs[2]}",
        f"├─ ● 2/3 other  {runs[3]}",
        f"│  ● more  {runs[4]}",
        f"└─ ○ 3/3 !boom (failed)  {runs[5]}",
    ]
    talk.select(old)
    assert [line.lstrip("├└│─ ")[0] for line in drawn(talk).splitlines()] == list("●●●○○○")
    assert json.loads(drawn(talk, "--json")) == talk.tree()


def test_what_is_broken_is_told_below_the_tree(serve: Callable[..., Service]) -> None:
    talk = Talk(serve(), "chat")
    run = talk.say("one", "h1")
    talk.say("two", "h2")
    head = talk.head()
    with talk.service.gateway.db.writing() as connection:
        connection.execute("UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ?", (head,))
    lines = drawn(talk).splitlines()
    assert (lines[0], lines[-1]) == (f"● one  {run}", f"! {head}: it cannot be read")


def test_a_thread_without_turns_draws_nothing(serve: Callable[..., Service]) -> None:
    assert drawn(Talk(serve(), "chat")) == ""
