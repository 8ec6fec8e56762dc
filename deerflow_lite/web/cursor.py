"""A cursor as clients carry it: an opaque text for a place in the default order; it knows no store.

Invariants: what was not made here is refused; the text says nothing but the place.
"""

import base64
import binascii
from datetime import datetime

import orjson

from deerflow_lite.errors import Invalid
from deerflow_lite.threads.limits import valid_id

Place = tuple[int, str, str]
LONGEST = 512


def write_cursor(place: Place) -> str:
    """Give the text of a place."""
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def read_cursor(text: str) -> Place:
    """Give the place of a text; raises Invalid for anything that `write_cursor` did not make."""
    try:
        pinned, updated_at, thread_id = orjson.loads(base64.urlsafe_b64decode(text[:LONGEST] + "=="))
        moment = datetime.fromisoformat(updated_at)
        place = (int(pinned), moment.isoformat(timespec="microseconds"), str(thread_id))
    except (ValueError, TypeError, binascii.Error, orjson.JSONDecodeError):
        raise _bad() from None
    if place[0] not in (0, 1) or not valid_id(place[2]) or write_cursor(place) != text:
        raise _bad()
    return place


def _bad() -> Invalid:
    return Invalid({"cursor": ["is not one of this service; take X-Next-Cursor of the page before"]})
