"""The printed exchanges of the replay routes; a test runs every one of them as it stands."""

from deerflow_lite.web.contract import Example
from deerflow_lite.web.examples import HELLO

WAITED = ("create_thread", "wait_run")
EDIT = Example(path=HELLO, body={"human_message_id": "h1__user", "replacement_text": "What is 3 * 7?"}, after=WAITED)
