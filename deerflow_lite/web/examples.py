"""The printed exchanges of the thread routes; a test runs every one of them as it stands."""

from typing import Any

from deerflow_lite.web.contract import Example

HELLO = {"thread_id": "hello"}
MADE = ("create_thread",)
TIME = "2026-01-02T03:04:05.000006+00:00"


def _thread(**differing: Any) -> dict[str, Any]:
    thread: dict[str, Any] = {
        "thread_id": "hello",
        "created_at": TIME,
        "updated_at": TIME,
        "state_updated_at": TIME,
        "metadata": {"topic": "greetings"},
        "status": "idle",
        "values": {"title": "First words"},
        "interrupts": {},
        "error": None,
        "config": {"configurable": {}},
        "title": "First words",
        "head_checkpoint_id": None,
    }
    return thread | differing


CREATE = Example(_thread(), body=HELLO | {"title": "First words", "metadata": {"topic": "greetings"}})
SEARCH = Example(
    [{"thread_id": "hello", "title": "First words", "extracted": {"about": "greetings"}}],
    body={
        "metadata": {"topic": "greetings"},
        "archived": False,
        "limit": 20,
        "select": ["thread_id", "title"],
        "extract": {"about": "metadata.topic"},
    },
    after=MADE,
)
COUNT = Example(1, body={"query": "first"}, after=MADE)
ARCHIVE = Example(
    {"matched": 1, "changed": 1, "thread_ids": ["hello"]},
    body={"thread_ids": ["hello"], "archived": True, "dry_run": False},
    after=MADE,
)
GET = Example(_thread(), path=HELLO, after=MADE)
PATCH = Example(
    _thread(metadata={"topic": "greetings", "deerflow_pinned": True}, values={"title": "New name"}, title="New name"),
    path=HELLO,
    body={"title": "New name", "metadata": {"deerflow_pinned": True}},
    after=MADE,
)
COPY = Example(_thread(thread_id="019b7c3f-2d5e-7a10-8c4b-5f6e7d8c9b0a"), path=HELLO, after=MADE)
DELETE = Example(path=HELLO, after=MADE)
