"""The printed exchanges of the turn routes; a test runs every one of them as it stands."""

from deerflow_lite.web.contract import Example
from deerflow_lite.web.examples import HELLO, MADE

TREE = Example({"turns": [], "head_checkpoint_id": None, "broken": []}, path=HELLO, after=MADE)
TURNS = Example({"turns": [], "has_more": False}, path=HELLO, query={"limit": "50"}, after=MADE)
MESSAGES = Example(
    {"data": [], "has_more": False, "next_before_seq": None}, path=HELLO, query={"limit": "50"}, after=MADE
)
