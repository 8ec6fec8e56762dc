"""The values of a head, kept as JSON beside the thread so that reading it decodes nothing; it stores nothing itself."""

from typing import Any

import orjson

from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.graphs import channels
from deerflow_lite.runs.status import thread_status
from deerflow_lite.threads.model import Change, HeadValues


def head_values(graph: Any, checkpoint_id: str, values: Any, *, settled: bool, created_at: str) -> HeadValues:
    """Give the record of a head: its values as JSON, the title apart."""
    named = values if isinstance(values, dict) else {"__root__": values}
    own = named.get("title")
    return HeadValues(
        checkpoint_id=checkpoint_id,
        body=to_json({name: value for name, value in named.items() if name != "title"}).decode(),
        titled=channels.titled(graph),
        own_title=None if own is None else to_json(own).decode(),
        settled=settled,
        mode=channels.mode(graph),
        created_at=created_at,
    )


def of_snapshot(graph: Any, snapshot: Any) -> HeadValues:
    """Give the record of a head from LangGraph's StateSnapshot of it."""
    checkpoint_id = snapshot.config["configurable"]["checkpoint_id"]
    return head_values(
        graph, checkpoint_id, snapshot.values, settled=not snapshot.next, created_at=snapshot.created_at or ""
    )


def interrupts(snapshot: Any) -> str:
    """Give the questions that wait for an answer as JSON: task id to a list of {id, value}."""
    asked = {task.id: [{"id": one.id, "value": one.value} for one in task.interrupts] for task in snapshot.tasks}
    return to_json({task_id: questions for task_id, questions in asked.items() if questions}).decode()


def standing(graph: Any, snapshot: Any) -> Change:
    """Give the change of a thread that stands on this checkpoint from now on, no run being in flight."""
    values = of_snapshot(graph, snapshot)
    return Change(
        head=values.checkpoint_id, values=values, interrupts=interrupts(snapshot), error=None,
        status=thread_status(busy=False, failed=False, settled=values.settled),
    )  # fmt: skip


def spliced(values: HeadValues, title: str | None) -> bytes:
    """Give the values of a head as its graph has them; a plain string channel `title` shows the thread's title."""
    shown = orjson.dumps(title).decode() if values.titled and title is not None else values.own_title
    if shown is None:
        return values.body.encode()
    rest = values.body[1:]
    return ('{"title":' + shown + ("," if rest != "}" else "") + rest).encode()


def answer(values: HeadValues, title: str | None, snapshot: Any) -> bytes:
    """Give final values as `wait` answers them: questions that wait for an answer stand under `__interrupt__`."""
    shown = spliced(values, title)
    asked = [one for task in snapshot.tasks for one in task.interrupts]
    if not asked:
        return shown
    return shown[:-1] + (b"," if len(shown) > 2 else b"") + b'"__interrupt__":' + to_json(asked) + b"}"
