"""Where a replay would start, asked without starting one, and the checkpoints that this is judged by."""

from typing import Any

from tests.lifecycle.asking import Talk


def execute(talk: Talk, statement: str, *values: object) -> None:
    with talk.service.gateway.db.writing() as connection:
        connection.execute(statement, values)


def edited(talk: Talk, message_id: str, status: int = 200) -> Any:
    body = {"human_message_id": message_id, "replacement_text": "other"}
    return talk.service.ask("POST", f"/threads/{talk.id}/runs/edit-regenerate/prepare", body, status)


def again(talk: Talk, message_id: str, status: int = 200) -> Any:
    path = f"/threads/{talk.id}/runs/regenerate/prepare"
    return talk.service.ask("POST", path, {"message_id": message_id}, status)


def anchor(prepared: Any) -> str:
    return str(prepared["checkpoint"]["checkpoint_id"])


def answer(talk: Talk, number: int = -1) -> str:
    messages = talk.service.state(talk.id)["values"]["messages"]
    return str([message["id"] for message in messages if message["type"] == "ai"][number])


def regenerated(talk: Talk) -> str:
    """Answer the last question again and give the new head."""
    run = talk.service.ask("POST", f"/threads/{talk.id}/runs/regenerate", {"message_id": answer(talk)})
    talk.service.join(talk.id, run["run_id"])
    return talk.head()


def ids_of(state: Any) -> list[str]:
    return [message["id"] for message in state["values"].get("messages", [])]


def oldest_with(talk: Talk, message_id: str) -> str:
    """Give the oldest checkpoint that holds a message; of the second turn's answer it holds all messages itself."""
    held = [state for state in talk.service.history(talk.id) if message_id in ids_of(state)]
    return str(held[-1]["checkpoint_id"])


def ends(talk: Talk) -> list[str]:
    """Give the settled checkpoints at the ends of the turns, the root first."""
    return [talk.root, *(turn["checkpoint_id"] for turn in talk.tree()["turns"])]
