"""The verbs on states: read, history, update; they ask the lifecycle and hand on its JSON."""

from typing import Any

from deerflow_lite.errors import Invalid
from deerflow_lite.web import run_examples as examples
from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.schemas.states import (
    History,
    HistoryBody,
    HistoryQuery,
    StateAnswer,
    StateAt,
    StateAtBody,
    StateLook,
    StateQuery,
    StateUpdate,
    StateUpdateBody,
    UpdateAnswer,
)

routes = Routes("State", "What a thread holds, now and at each of its checkpoints")
STATE = "/threads/<thread_id>/state"
HISTORY = "/threads/<thread_id>/history"


@routes.route("GET", STATE, query=StateQuery, answer=StateAnswer, refusals=(404, 409), example=examples.STATE)
def get_state(call: Call, thread_id: str, query: StateLook) -> bytes:
    """Give the state of the head."""
    return call.gateway.states.read(call.owner, thread_id, subgraphs=bool(query.subgraphs))


@routes.route("GET", STATE + "/<checkpoint_id>", query=StateQuery, answer=StateAnswer, refusals=(404, 409))
def get_state_at(call: Call, thread_id: str, checkpoint_id: str, query: StateLook) -> bytes:
    """Give the state at a checkpoint."""
    return call.gateway.states.read(call.owner, thread_id, checkpoint_id, subgraphs=bool(query.subgraphs))


@routes.route("POST", STATE + "/checkpoint", body=StateAtBody, answer=StateAnswer, refusals=(404, 409))
def read_state(call: Call, thread_id: str, body: StateAt) -> bytes:
    """Give the state at a checkpoint of any namespace."""
    checkpoint_id, namespace = place(body.checkpoint)
    return call.gateway.states.read(call.owner, thread_id, checkpoint_id, namespace, bool(body.subgraphs))


@routes.route("POST", STATE, body=StateUpdateBody, answer=UpdateAnswer, refusals=(400, 404, 409),
              example=examples.UPDATE)  # fmt: skip
def update_state(call: Call, thread_id: str, body: StateUpdate) -> Any:
    """Write values as a node would have; `values: {title}` alone is a rename."""
    checkpoint_id, namespace = place(body.checkpoint)
    return call.gateway.updating.update(
        call.owner, thread_id, body.values, body.as_node, checkpoint_id or body.checkpoint_id, namespace
    )


@routes.route("POST", HISTORY, body=HistoryBody, answer=[StateAnswer], refusals=(404, 409), example=examples.HISTORY)
def search_history(call: Call, thread_id: str, body: History) -> bytes:
    """Give the states of a thread: the head first, then the newest."""
    return history(call, thread_id, body)


@routes.route("GET", HISTORY, query=HistoryQuery, answer=[StateAnswer], refusals=(404, 409))
def get_history(call: Call, thread_id: str, query: History) -> bytes:
    """Give the states of a thread: the head first, then the newest."""
    return history(call, thread_id, query)


def history(call: Call, thread_id: str, asked: History) -> bytes:
    """Ask for a history."""
    checkpoint_id, namespace = place(asked.checkpoint)
    if namespace:
        raise Invalid({"checkpoint.checkpoint_ns": ["must be empty: a history is of the root namespace"]})
    states, owner = call.gateway.states, call.owner
    return states.history(
        owner, thread_id, limit=asked.limit, before=asked.before, metadata=asked.metadata, checkpoint_id=checkpoint_id
    )


def place(checkpoint: dict[str, Any] | None) -> tuple[str | None, str]:
    """Give (checkpoint id, namespace) of a checkpoint object."""
    given = checkpoint or {}
    return given.get("checkpoint_id"), given.get("checkpoint_ns") or ""
