"""What a thread's title may be, set by hand or made from the first text; it stores nothing.

Invariants: every title given here can be stored, shown on one line and compared, whatever it was made of.
"""

import re
import unicodedata
from typing import Final

import regex

from deerflow_lite.errors import Invalid

TITLE_CHARACTERS: Final = 256
TITLE_CLUSTERS: Final = 60
STORED_CHARACTERS: Final = 1024
_UNSHOWN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_SURROGATE: Final = re.compile("[\\ud800-\\udfff]")
_HEAD: Final = regex.compile(rf"\X{{0,{TITLE_CLUSTERS}}}")


def clean_title(title: str) -> str:
    """Give a title set by hand, trimmed; raises Invalid unless it is 1 to 256 characters without control characters."""
    text = title.strip()
    if any(unicodedata.category(letter) in _UNSHOWN for letter in text[: TITLE_CHARACTERS + 1]):
        raise Invalid({"title": ["must not hold control characters"]})
    if not 0 < len(text) <= TITLE_CHARACTERS:
        raise Invalid({"title": [f"must have 1 to {TITLE_CHARACTERS} characters besides white space"]})
    return text


def auto_title(text: str) -> str | None:
    """Give the title that a first text makes: white space collapsed, cut at 60 grapheme clusters; None for none."""
    tidy = tidy_title(" ".join(text.split(None, TITLE_CLUSTERS)[:TITLE_CLUSTERS]))
    head = None if tidy is None else _HEAD.match(" ".join(tidy.split()))
    return None if head is None else head.group().rstrip()


def tidy_title(title: str | None) -> str | None:
    """Give a title that a graph or a text made in a form that can be stored; None where nothing is left."""
    if title is None:
        return None
    known = _SURROGATE.sub("\ufffd", title[:STORED_CHARACTERS])
    text = "".join(" " if unicodedata.category(letter) in _UNSHOWN else letter for letter in known).strip()
    return text or None


def folded(title: str) -> str:
    """Give the form in which titles are searched: the same for every case of a letter."""
    return title.casefold()
