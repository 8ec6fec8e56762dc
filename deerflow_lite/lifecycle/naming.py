"""A title that was given back: the service names the thread by what its head holds; it knows no rule of titles."""

from dataclasses import replace

from deerflow_lite.lifecycle.states import States
from deerflow_lite.runs.naming import made_title
from deerflow_lite.runs.rooms import Rooms
from deerflow_lite.threads.model import Change, Thread


class Naming:
    """Names threads again whose title was given back."""

    def __init__(self, rooms: Rooms, states: States) -> None:
        self._rooms, self._states = rooms, states

    def give_back(self, owner: str | None, thread_id: str, change: Change) -> Thread:
        """Write a change and let the service name the thread, from what its head holds; raises ThreadUnknown, Invalid.

        The values are read before the transaction, for that may ask the thread's graph.
        """
        thread = self._rooms.threads.get(owner, thread_id)
        title = made_title(self._states.values([thread]).get(thread.row))
        return self._rooms.threads.change(
            owner, thread_id, replace(change, title=None, auto_title=title), row=thread.row
        )
