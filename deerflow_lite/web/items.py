"""The verbs on items of the store: each asks the room of items; no rule about them lives here."""

from typing import Any

from deerflow_lite.items.desk import Look
from deerflow_lite.web.contract import Call, Example, Routes
from deerflow_lite.web.schemas.items import (
    ItemAnswer,
    ItemName,
    ItemNameBody,
    ItemPut,
    ItemPutBody,
    ItemQuery,
    ItemsAnswer,
    ItemSearch,
    ItemSearchBody,
    NamespacesAnswer,
    NamespaceSearch,
    NamespaceSearchBody,
)

routes = Routes("Store", "What graphs remember beyond one thread: items by namespace and key")
ITEMS = "/store/items"
TEA = {"namespace": ["users", "ada"], "key": "tea"}
PUT = ("put_item",)
SEARCH = {"namespace_prefix": ["users"], "filter": {"kind": "green"}}
FOUND = {"namespaces": [["users", "ada"]]}


@routes.route("PUT", ITEMS, body=ItemPutBody, status=204, example=Example(body={**TEA, "value": {"kind": "green"}}))
def put_item(call: Call, body: ItemPut) -> None:
    """Store an item in place of the one of this name."""
    call.gateway.items.put(call.owner, body.namespace, body.key, body.value, body.ttl)


@routes.route("GET", ITEMS, query=ItemQuery, answer={"anyOf": [ItemAnswer, {"type": "null"}]}, refusals=(409,),
              example=Example(query={"namespace": "users.ada", "key": "tea"}, after=PUT))  # fmt: skip
def get_item(call: Call, query: ItemName) -> Any:
    """Give one item, `null` where there is none."""
    return call.gateway.items.get(call.owner, query.namespace, query.key) or b"null"


@routes.route("DELETE", ITEMS, body=ItemNameBody, status=204, example=Example(body=TEA, after=PUT))
def delete_item(call: Call, body: ItemName) -> None:
    """Remove an item, if it is there."""
    call.gateway.items.delete(call.owner, body.namespace, body.key)


@routes.route("POST", ITEMS + "/search", body=ItemSearchBody, answer=ItemsAnswer,
              example=Example(body=SEARCH, after=PUT))  # fmt: skip
def search_items(call: Call, body: ItemSearch) -> dict[str, Any]:
    """Find items at or below a namespace, the last changed first."""
    look = Look(body.filter, body.query, body.limit, body.offset)
    return {"items": call.gateway.items.search(call.owner, body.namespace_prefix or (), look)}


@routes.route("POST", "/store/namespaces", body=NamespaceSearchBody, answer=NamespacesAnswer,
              example=Example(FOUND, body={"prefix": ["users"]}, after=PUT))  # fmt: skip
def list_namespaces(call: Call, body: NamespaceSearch) -> dict[str, Any]:
    """List the namespaces that hold items."""
    found = call.gateway.items.namespaces(call.owner, body.prefix, body.suffix, body.max_depth, body.limit, body.offset)
    return {"namespaces": found}
