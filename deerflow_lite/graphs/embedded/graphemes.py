"""Cuts text where a reader sees a boundary; it changes nothing else."""

from itertools import islice

import regex

_CLUSTER = regex.compile(r"\X")


def cut(text: str, clusters: int) -> str:
    """Give at most the first `clusters` grapheme clusters; reads no further than that."""
    return "".join(match[0] for match in islice(_CLUSTER.finditer(text), clusters))
