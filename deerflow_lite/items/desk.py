"""Where items are asked for from outside a graph, and where a run gets its store; nothing is made before it is needed.

What LangGraph refuses of a name or a filter is Invalid here, with the field that holds it.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from deerflow_lite.db import Database
from deerflow_lite.errors import Invalid
from deerflow_lite.journal import Journal

if TYPE_CHECKING:
    from deerflow_lite.items.owned import OwnedStore
    from deerflow_lite.items.store import FileStore

FILTER_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
Names = Sequence[str]


@dataclass(frozen=True, slots=True)
class Look:
    """Which items are asked for."""

    filter: dict[str, Any] | None
    query: str | None
    limit: int
    offset: int


class Items:
    """The items of every owner."""

    def __init__(self, db: Database, journal: Journal) -> None:
        self._db, self._journal = db, journal
        self._store: FileStore | None = None
        self._lock = threading.Lock()

    def of(self, owner: str) -> "OwnedStore":
        """Give the store of one owner, for a graph."""
        from deerflow_lite.items.owned import OwnedStore
        from deerflow_lite.items.store import FileStore

        with self._lock:
            self._store = self._store or FileStore(self._db)
        return OwnedStore(self._store, self._journal, owner)

    def put(self, owner: str, namespace: Names, key: str, value: dict[str, Any], ttl: float | None) -> None:
        """Store an item in place of the one of this name; `ttl` is in minutes. Raises Invalid."""
        with _refusals("namespace"):
            self.of(owner).put(tuple(namespace), key, value, ttl=ttl)

    def get(self, owner: str, namespace: Names, key: str) -> dict[str, Any] | None:
        """Give an item, None for one that is not there; raises Invalid, Conflict where it cannot be read."""
        with _refusals("namespace"):
            found = self.of(owner).get(tuple(namespace), key)
        return None if found is None else _shape(found)

    def delete(self, owner: str, namespace: Names, key: str) -> None:
        """Remove an item if it is there; raises Invalid."""
        with _refusals("namespace"):
            self.of(owner).delete(tuple(namespace), key)

    def search(self, owner: str, prefix: Names, look: Look) -> list[dict[str, Any]]:
        """Give the items at or below a namespace, the last changed first; raises Invalid."""
        bad = [key for key in look.filter or {} if not FILTER_KEY.fullmatch(key)]
        if bad:
            raise Invalid({f"filter.{key}": ["must be of A-Z, a-z, 0-9, _ and -, parts joined by dots"] for key in bad})
        with _refusals("namespace_prefix"):
            found = self.of(owner).search(
                tuple(prefix), filter=look.filter, query=look.query, limit=look.limit, offset=look.offset
            )
        return [_shape(one) | {"score": one.score} for one in found]

    def namespaces(
        self, owner: str, prefix: Names | None, suffix: Names | None, depth: int | None, limit: int, offset: int
    ) -> list[list[str]]:
        """List the namespaces that hold items, cut at `depth` parts; `*` stands for any one part. Raises Invalid."""
        with _refusals("prefix"):
            found = self.of(owner).list_namespaces(
                prefix=tuple(prefix or ()), suffix=tuple(suffix or ()), max_depth=depth, limit=limit, offset=offset
            )
        return [list(one) for one in found]


@contextmanager
def _refusals(field: str) -> Iterator[None]:
    """Turn the library's refusals into ours; what it does not name a namespace for is said of a filter."""
    from langgraph.store.base import InvalidNamespaceError

    try:
        yield
    except InvalidNamespaceError as error:
        raise Invalid({field: [str(error).rstrip(".")]}) from None
    except ValueError as error:
        raise Invalid({"filter": [str(error).rstrip(".")]}) from None


def _shape(item: Any) -> dict[str, Any]:
    return {
        "namespace": list(item.namespace),
        "key": item.key,
        "value": item.value,
        "created_at": _time(item.created_at),
        "updated_at": _time(item.updated_at),
    }


def _time(moment: datetime) -> str:
    """What another program wrote carries no offset; it is UTC as well."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat(timespec="microseconds")
