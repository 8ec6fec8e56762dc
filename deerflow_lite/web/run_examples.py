"""The printed exchanges of the run and state routes; a test runs every one of them as it stands."""

from deerflow_lite.web.contract import Example
from deerflow_lite.web.examples import HELLO, MADE

ASK = {
    "assistant_id": "agent",
    "input": {"messages": [{"type": "human", "id": "h1", "content": "What is 2 * (3 + 4)?"}]},
}
RUN = Example(path=HELLO, body=ASK, after=MADE)
WAIT = Example(path=HELLO, body=ASK, after=MADE)
RUNS = Example([], path=HELLO, after=MADE)
STATE = Example(
    {
        "values": {}, "next": [], "tasks": [], "metadata": None, "created_at": None, "checkpoint": None,
        "parent_checkpoint": None, "interrupts": [], "checkpoint_id": None, "parent_checkpoint_id": None,
    },
    path=HELLO,
    after=MADE,
)  # fmt: skip
UPDATE = Example(path=HELLO, body={"values": {"title": "A better name"}}, after=MADE)
HISTORY = Example([], path=HELLO, body={"limit": 10}, after=MADE)
