"""The door: the Host and Origin of a request, and the headers that tell browsers what they may do.

It looks at no body and no thread; who the caller is, `callers` finds out when it is asked here. Invariants: a Host
that is not ours is refused (DNS rebinding); a foreign Origin neither writes nor gets a CORS header; a preflight is
answered before anybody asks who the caller is.
"""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

from flask import Flask, Request, Response, request

from deerflow_lite.config import Config
from deerflow_lite.errors import Forbidden

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
EXPOSED = "Content-Location, Location, X-Pagination-Total, X-Pagination-Next, X-Pagination-Total-Capped, X-Next-Cursor"
ALLOWED_METHODS = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
ALLOWED_HEADERS = "Content-Type, Authorization, X-Api-Key, X-CSRF-Token, Last-Event-ID, Idempotency-Key, Prefer"
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"(https?)://([^/?#@\s]+)")


@dataclass(frozen=True)
class Doorkeeper:
    """The Host names and Origins that are ours."""

    hosts: frozenset[str]
    origins: frozenset[str]
    loopback: bool

    def check(self, request: Request) -> None:
        """Raise Forbidden for a foreign Host, and for a write from a foreign Origin."""
        host = request.environ.get("HTTP_HOST", "")
        if _name(host) not in self.hosts:
            raise Forbidden(f"Host: {host[:100]!r} is not a name of this service (setting ALLOWED_HOSTS)")
        origin = request.headers.get("Origin")
        if origin is not None and request.method not in SAFE_METHODS and not self.ours(request):
            raise Forbidden(f"Origin: {origin[:100]!r} may not write here (setting CORS_ORIGINS)")

    def ours(self, request: Request) -> bool:
        """Say whether the request's Origin is one of ours."""
        origin = request.headers.get("Origin", "").lower()
        match = _ORIGIN.fullmatch(origin)
        if match is None or not (name := _name(match[2])):
            return False
        if origin in self.origins or (self.loopback and name in LOOPBACK):
            return True
        return self.own(request)

    def own(self, request: Request) -> bool:
        """Say whether the request's Origin is the very host and port that it is sent to."""
        match = _ORIGIN.fullmatch(request.headers.get("Origin", "").lower())
        host = request.environ.get("HTTP_HOST", "").lower()
        return match is not None and _name(host) in self.hosts and _full(match[2], match[1]) == _full(host, match[1])


def doorkeeper(config: Config) -> Doorkeeper:
    """Read the names that are ours from the settings."""
    given = {_bracketed(name.lower()) for name in (config.host, *config.allowed_hosts)}
    return Doorkeeper(
        hosts=LOOPBACK | {_name(name) or name for name in given},
        origins=frozenset(origin.lower().rstrip("/") for origin in config.cors_origins),
        loopback=config.auth == "none" and _is_loopback(config.host),
    )


def _name(authority: str) -> str | None:
    match = _AUTHORITY.fullmatch(authority.lower())
    return match[1] if match and int(match[2] or 0) <= 65535 else None


def _full(authority: str, scheme: str) -> tuple[str | None, int]:
    match = _AUTHORITY.fullmatch(authority)
    return _name(authority), int((match and match[2]) or (443 if scheme == "https" else 80))


def _bracketed(name: str) -> str:
    return f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def install(app: Flask, keeper: Doorkeeper, find_caller: Callable[[Request], None]) -> None:
    """Put the door before every view, and the headers on every answer; `find_caller` raises for an unknown one."""
    app.before_request(_admission(app, keeper, find_caller))
    app.after_request(_telling(keeper))


def _admission(app: Flask, keeper: Doorkeeper, find_caller: Callable[[Request], None]) -> Callable[[], Response | None]:
    def admit() -> Response | None:
        keeper.check(request)
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            return Response(status=204)
        find_caller(request)
        if request.method != "OPTIONS" or request.routing_exception is not None:
            return None
        return Response(status=204, headers={"Allow": app.make_default_options_response().headers["Allow"]})

    return admit


def _telling(keeper: Doorkeeper) -> Callable[[Response], Response]:
    def tell(response: Response) -> Response:
        for name, value in SECURITY.items():
            response.headers.setdefault(name, value)
        if response.status_code == 204:
            response.headers.pop("Content-Type", None)
        if response.mimetype == "application/json":
            response.headers.setdefault("Cache-Control", "no-store")
        response.vary.add("Origin")
        if "Origin" not in request.headers or not keeper.ours(request):
            return response
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = EXPOSED
        if request.method == "OPTIONS":
            _preflight(request, response)
        return response

    return tell


def _preflight(request: Request, response: Response) -> None:
    asked = request.headers.get("Access-Control-Request-Headers", ALLOWED_HEADERS)
    response.headers["Access-Control-Allow-Methods"] = ALLOWED_METHODS
    response.headers["Access-Control-Allow-Headers"] = asked
    response.headers["Access-Control-Max-Age"] = "600"
    response.vary.update(("Access-Control-Request-Method", "Access-Control-Request-Headers"))
    if request.headers.get("Access-Control-Request-Private-Network") == "true":
        response.headers["Access-Control-Allow-Private-Network"] = "true"
