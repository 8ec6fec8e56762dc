"""The header Idempotency-Key: a post that is sent again is told by it; it keeps nothing."""

from hashlib import sha256
from typing import Final

import orjson

from deerflow_lite.errors import Invalid
from deerflow_lite.runs.model import Repeat
from deerflow_lite.web.body import json_value
from deerflow_lite.web.contract import Call

HEADER: Final = "Idempotency-Key"
CHARACTERS: Final = 255


def repeat_of(call: Call, number: int = 0) -> Repeat | None:
    """Give what a post is known by, None without the header; `number` tells the runs of one post apart."""
    key = call.request.headers.get(HEADER, "")
    if not key:
        return None
    if len(key) > CHARACTERS:
        raise Invalid({HEADER: [f"must not be longer than {CHARACTERS} characters"]})
    path = call.request.path.rstrip("/").removeprefix("/api").removeprefix("/langgraph")
    body = orjson.dumps(json_value(call.request.get_data()), option=orjson.OPT_SORT_KEYS)
    return Repeat(f"{path} {number} {key}", sha256(body).hexdigest())
