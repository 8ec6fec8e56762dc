"""Graphs that remember beyond a thread, in a sync node and in an async one."""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.config import get_store
from langgraph.graph import MessagesState
from langgraph.store.base import BaseStore

from tests.runs import gates
from tests.sample_graphs import last_text, line, new_message_id

SEEN = ("seen",)


def told(number: int) -> dict[str, Any]:
    return {"messages": [AIMessage(content=f"seen {number}", id=new_message_id())]}


def count(state: MessagesState, *, store: BaseStore) -> dict[str, Any]:
    """Count its calls under the newest message, in every thread of the owner."""
    key = last_text(state["messages"])
    found = store.get(SEEN, key)
    number = 1 + (found.value["number"] if found else 0)
    store.put(SEEN, key, {"number": number})
    return told(number)


async def acount(state: MessagesState) -> dict[str, Any]:
    """Count as `count` does, then wait at the gate that the newest message names."""
    store, key = get_store(), last_text(state["messages"])
    found = await store.aget(SEEN, key)
    number = 1 + (found.value["number"] if found else 0)
    await store.aput(SEEN, key, {"number": number})
    again = await store.asearch(SEEN, filter={"number": number})
    assert key in [one.key for one in again]
    if (gate := gates.find(key)) is not None:
        await gate.awaited()
    return told(number)


remembering = line("remembering", MessagesState, ("count", count))
aremembering = line("aremembering", MessagesState, ("acount", acount))
outer = line("outer", MessagesState, ("inner", remembering))
