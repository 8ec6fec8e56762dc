"""The verb that prunes many threads, as LangGraph's server has it; what is dropped is upkeep's business."""

from deerflow_lite.web.contract import Call, Routes
from deerflow_lite.web.schemas.prune import PruneAnswer, PruneBody, PruneThreads

routes = Routes("Threads", "Conversations: create, find, name, file away, copy, delete")


@routes.route("POST", "/threads/prune", body=PruneBody, answer=PruneAnswer, refusals=(409,))
def prune_threads(call: Call, body: PruneThreads) -> dict[str, int]:
    """Delete threads, or cut them down to their latest checkpoint.

    Ids that are not the caller's are ignored. While a run is in flight on one of the threads nothing is done.
    """
    gateway = call.gateway
    known = [one for one in dict.fromkeys(body.thread_ids) if gateway.threads.owned(call.owner, one)]
    if body.strategy == "keep_latest":
        return {"pruned_count": gateway.latest.keep_all(call.owner, known)}
    with gateway.db.writing():
        for thread_id in known:
            gateway.deleting.delete(call.owner, thread_id)
    return {"pruned_count": len(known)}
