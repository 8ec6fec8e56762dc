"""The store as one owner sees it: the owner is the first namespace part, added here and taken off here.

Nodes and HTTP use the same object, so nobody reaches another owner's items by any name.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchOp,
    validate_op_namespace,
)

from deerflow_lite.items.store import FileStore
from deerflow_lite.journal import Journal, settled


class OwnedStore(BaseStore):
    """Async calls go through the journal: they wait for no thread of the pool, which sleeping nodes may fill."""

    supports_ttl = True

    def __init__(self, store: FileStore, journal: Journal, owner: str) -> None:
        self._store, self._journal = store, journal
        self._label = quote(owner, safe="").replace(".", "%2E")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what is asked; raises InvalidNamespaceError, Conflict, and ValueError for a filter that is none."""
        asked = [self._within(op) for op in ops]
        return [_bare(found) for found in self._store.batch(asked)]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what is asked; what is cancelled meanwhile is written all the same."""
        asked = [self._within(op) for op in ops]
        queue = self._journal.write if any(isinstance(op, PutOp) for op in asked) else self._journal.ask
        return [_bare(found) for found in await settled(queue(lambda _: self._store.batch(asked)))]

    def _within(self, op: Op) -> Op:
        validate_op_namespace(op)
        if isinstance(op, GetOp | PutOp):
            return op._replace(namespace=(self._label, *op.namespace))
        if isinstance(op, SearchOp):
            return op._replace(namespace_prefix=(self._label, *op.namespace_prefix))
        return self._listed(op)

    def _listed(self, op: ListNamespacesOp) -> ListNamespacesOp:
        """A suffix matches below the owner's part only: so many parts must stand behind it."""
        given = op.match_conditions or ()
        suffixes = [one for one in given if one.match_type == "suffix"]
        prefixes = [(*one.path,) for one in given if one.match_type == "prefix"]
        deepest = max((len(one.path) for one in suffixes), default=0)
        within = [MatchCondition("prefix", (self._label, *path)) for path in (("*",) * deepest, *prefixes)]
        depth = None if op.max_depth is None else op.max_depth + 1
        return op._replace(match_conditions=(*within, *suffixes), max_depth=depth)


def _bare(found: Any) -> Any:
    """Take the owner off a result."""
    if isinstance(found, Item):
        found.namespace = found.namespace[1:]
    elif isinstance(found, list):
        return [_bare(one) for one in found]
    elif isinstance(found, tuple):
        return found[1:]
    return found
