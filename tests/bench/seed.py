"""Many threads in a new folder, written before a service starts; they have no state.

One in a hundred is in each bucket, one in ten is archived, one in a thousand is pinned.
"""

from pathlib import Path
from typing import Any

from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from deerflow_lite.threads.model import NewThread

OWNER = "default"
BUCKETS = 100


def fill(instance: Path, count: int) -> None:
    """Add threads in one transaction; 10,000 take some seconds."""
    gateway = Gateway.open(Config(instance=instance), executing=False)
    with gateway.db.writing():
        for number in range(count):
            new = NewThread(f"seed-{number:07}", _metadata(number), f"Conversation {number}")
            gateway.threads.create(OWNER, new)
    gateway.close()


def _metadata(number: int) -> dict[str, Any]:
    flags = {"deerflow_archived": True} if number % 10 == 3 else {}
    flags |= {"deerflow_pinned": True} if number % 1000 == 5 else {}
    return {"graph_id": "noop", "bucket": f"b{number % BUCKETS}", **flags}
