"""One table from the domain's errors to HTTP statuses, and the JSON that every error is answered with.

It decides no refusal itself. Nothing but JSON is ever answered for an error, whoever raised it.
"""

import logging
import sqlite3
from typing import Any

import orjson
from flask import Flask, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from deerflow_lite import errors
from deerflow_lite.web.traffic import request_id

STATUS: dict[type[Exception], int] = {
    errors.TooLarge: 413,
    errors.Invalid: 422,
    errors.GraphRefused: 400,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.CallerUnknown: 401,
    errors.Forbidden: 403,
    errors.Unavailable: 503,
}
LATER = ("locked", "busy", "disk is full", "readonly", "disk I/O")
log = logging.getLogger(__name__)


def status_of(error: Exception) -> int:
    """Give the status of the nearest ancestor in the table, 500 for what is not in it."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem(status: int, detail: str, **more: Any) -> Response:
    """Make the one shape of an error."""
    return Response(orjson.dumps({"detail": detail} | more), status, mimetype="application/json")


def domain_error(error: errors.DeerflowError) -> Response:
    """Answer a refusal of the domain."""
    status = status_of(error)
    if status == 500:
        return unexpected(error)
    response = problem(status, error.detail, **({"errors": error.errors} if isinstance(error, errors.Invalid) else {}))
    if isinstance(error, errors.Unavailable):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.CallerUnknown):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def http_error(error: HTTPException) -> Response:
    """Answer what the router refused."""
    status = error.code or 500
    if isinstance(error, NotFound):
        return problem(status, "path: nothing is served here")
    response = problem(status, f"request: {error.description or error.name}")
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = problem(status, f"method: not served at this path, which allows {allowed}")
        response.headers["Allow"] = allowed
    return response


def unexpected(error: Exception) -> Response:
    """Answer what nobody foresaw: logged with its traceback, told without it."""
    if isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in LATER):
        return domain_error(errors.Unavailable(f"the database cannot be written now: {error}"))
    log.error("a request failed", exc_info=error, extra={"fields": {"request_id": request_id()}})
    return problem(500, "internal error", request_id=request_id())


def install(app: Flask) -> None:
    """Register the three handlers; the last one is the only `except Exception` of this room."""
    app.register_error_handler(errors.DeerflowError, domain_error)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, unexpected)
