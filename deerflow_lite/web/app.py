"""Puts the web room together: door, routes at their three mounts, pages, errors; it declares no route itself."""

from collections.abc import Callable
from typing import Any

import orjson
from flask import Flask
from flask.json.provider import JSONProvider
from werkzeug.routing import Rule

from deerflow_lite.gateway import Gateway
from deerflow_lite.web import (
    assistants,
    auth,
    branches,
    docs,
    errors,
    items,
    meta,
    metrics,
    pages,
    prune,
    replay,
    runs,
    signin,
    stateless,
    states,
    threads,
    traffic,
    tree,
)
from deerflow_lite.web.body import WholeBody
from deerflow_lite.web.callers import Callers
from deerflow_lite.web.contract import Routes, blueprint

ROUTES: tuple[Routes, ...] = (
    meta.routes, assistants.routes, threads.routes, runs.routes, stateless.routes, replay.routes, branches.routes,
    states.routes, tree.routes, items.routes, prune.routes, metrics.routes,
)  # fmt: skip
MOUNTS = {"api": "/api", "root": None, "langgraph": "/api/langgraph"}


class OrjsonProvider(JSONProvider):
    """Flask's JSON by orjson."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return orjson.loads(s)


class MatchedRule(Rule):
    """A rule that requests are matched with: no URL is built from one, and to compile what would is most of a start."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., Any]:
        return _unbuilt


def _unbuilt(rule: Rule, **values: Any) -> Any:
    raise NotImplementedError(f"no URL is built from {rule.rule}")


class App(Flask):
    """Flask with such rules."""

    url_rule_class = MatchedRule


def make_app(gateway: Gateway) -> Flask:
    """Make the application over an open gateway."""
    app = App(__name__)
    app.json = OrjsonProvider(app)
    app.extensions["deerflow_lite"] = gateway
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.extensions[metrics.TRAFFIC] = traffic.install(app)
    keeper = auth.doorkeeper(gateway.config)
    callers = Callers(gateway.accounts if gateway.config.auth == "tokens" else None, keeper)
    auth.install(app, keeper, callers.admit)
    errors.install(app)
    docs.install(app, ROUTES)
    served = blueprint(ROUTES, gateway)
    for name, prefix in MOUNTS.items():
        app.register_blueprint(served, url_prefix=prefix, name=name)
    pages.install(app)
    signin.install(app, callers)
    app.wsgi_app = WholeBody(app.wsgi_app, gateway.config.max_body)  # type: ignore[method-assign]
    return app
