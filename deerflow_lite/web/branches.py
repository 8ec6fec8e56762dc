"""The verb on branches: it asks the lifecycle and hands on its answer."""

from typing import Any

from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.schemas.branches import BranchAnswer, BranchBody, BranchFrom

routes = Routes("Branches", "New threads that go on from one turn of another")


@routes.route("POST", "/threads/<thread_id>/branches", body=BranchBody, answer=BranchAnswer, refusals=(404, 409))
def branch_thread(call: Call, thread_id: str, body: BranchFrom) -> Any:
    """Make a thread that goes on from an answered turn of this one.

    The messages named are answers of one turn, the last of what it shows among them. The title is this thread's unless
    given.
    """
    made = call.gateway.branching.branch(call.owner, thread_id, body.message_id, body.message_ids or (), body.title)
    return made.as_json()
