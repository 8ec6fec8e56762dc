"""Serves the OpenAPI document and a page that shows it; the page's assets are local and hold no inline script."""

from collections.abc import Sequence
from functools import cache

import orjson
from flask import Flask, Response, render_template

from deerflow_lite.web.contract import Routes
from deerflow_lite.web.meta import version

# Swagger UI sets style attributes in the markup that it makes; its scripts stay local files.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def install(app: Flask, all_routes: Sequence[Routes]) -> None:
    """Serve `/api/openapi.json` and `/docs`."""

    @cache
    def made() -> bytes:
        from deerflow_lite.web.openapi import document

        return orjson.dumps(document(all_routes, version("deerflow-lite")))

    def openapi() -> Response:
        return Response(made(), mimetype="application/json")

    def docs() -> Response:
        return Response(render_template("docs.html"), headers={"Content-Security-Policy": POLICY})

    app.add_url_rule("/api/openapi.json", "openapi", openapi)
    app.add_url_rule("/docs", "docs", docs)
