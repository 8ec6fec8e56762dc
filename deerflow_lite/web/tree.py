"""The verbs on turns: their tree, the selected path, which one is selected, taking one out; they ask the lifecycle."""

from typing import Any

from deerflow_lite.checkpoints.wire import to_json
from deerflow_lite.lifecycle.said import Said, messages
from deerflow_lite.lifecycle.turns import page
from deerflow_lite.lifecycle.words import told
from deerflow_lite.web import tree_examples as examples
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.schemas.threads import ThreadAnswer
from deerflow_lite.web.schemas.tree import (
    HeadBody,
    HeadChoice,
    MessagesAnswer,
    MessagesLook,
    MessagesQuery,
    TreeAnswer,
    TreeLook,
    TreeQuery,
    TurnsAnswer,
    TurnsLook,
    TurnsQuery,
)
from deerflow_lite.web.threads import THREAD, whole

EVENTS = {"human": "llm.human.input", "ai": "llm.ai.response", "tool": "llm.tool.result"}
routes = Routes("Turns", "Every turn of a conversation, those beside the selected path too")


@routes.route("GET", THREAD + "/tree", query=TreeQuery, answer=TreeAnswer, refusals=(404, 409), example=examples.TREE)
def get_tree(call: Call, thread_id: str, query: TreeLook) -> Any:
    """Give every turn of a thread once, with its siblings; what cannot be read stands in `broken`."""
    if not query.texts:
        return call.gateway.trees.tree(call.owner, thread_id)
    tree, words = told(call.gateway.trees, call.owner, thread_id)
    turns = [
        turn.as_json() | {"question": said.question, "answer": said.answer}
        for turn, said in zip(tree.turns, words, strict=True)
    ]
    return {"turns": turns, "head_checkpoint_id": tree.head_checkpoint_id, "broken": tree.broken}


@routes.route("GET", THREAD + "/turns", query=TurnsQuery, answer=TurnsAnswer, refusals=(404, 409),
              example=examples.TURNS)  # fmt: skip
def get_turns(call: Call, thread_id: str, query: TurnsLook) -> bytes:
    """Give the turns of the selected path with their messages, the newest last."""
    found = page(call.gateway.trees, call.owner, thread_id, query.before, query.limit)
    turns = [turn.as_json() | {"messages": messages} for turn, messages in found.turns]
    return to_json({"turns": turns, "has_more": found.more})


@routes.route("GET", THREAD + "/messages/page", query=MessagesQuery, answer=MessagesAnswer, refusals=(404, 409),
              example=examples.MESSAGES)  # fmt: skip
def get_messages(call: Call, thread_id: str, query: MessagesLook) -> bytes:
    """Give the messages of the selected path in the rows that DeerFlow's page reads, the newest last."""
    found = messages(call.gateway.trees, call.owner, thread_id, query.before_seq, query.limit)
    rows = [_row(thread_id, said) for said in found.said]
    return to_json({"data": rows, "has_more": found.before is not None, "next_before_seq": found.before})


def _row(thread_id: str, said: Said) -> dict[str, Any]:
    return {
        "thread_id": thread_id,
        "run_id": said.turn.run_id or said.turn.turn_id,
        "seq": said.seq,
        "event_type": EVENTS.get(said.message.type, "llm.system.input"),
        "category": "message",
        "content": said.message.data,
        "created_at": said.turn.created_at,
        "metadata": {"caller": "lead_agent"},
        "feedback": None,
    }


@routes.route("PUT", THREAD + "/head", body=HeadBody, answer=ThreadAnswer, refusals=(404, 409))
def put_head(call: Call, thread_id: str, body: HeadChoice) -> Any:
    """Select the settled checkpoint that a thread stands on."""
    return whole(call, call.gateway.heads.select(call.owner, thread_id, body.checkpoint_id))


@routes.route("DELETE", THREAD + "/turns/<path:turn_id>", status=204, refusals=(404, 409))
def delete_turn(call: Call, thread_id: str, turn_id: str) -> None:
    """Delete a turn that is not selected, with all that came after it."""
    call.gateway.heads.delete_turn(call.owner, thread_id, turn_id)
