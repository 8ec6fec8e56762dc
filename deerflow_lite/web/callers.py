"""Who asks: the owner behind the token or the session of a request; what a token is worth, accounts know.

Invariants: without AUTH=tokens everybody is the owner `default`; a header that names a token is never passed over for a
cookie; a session counts only for what our own page asks, and for a write only with the page's CSRF token.
"""

import hmac
from dataclasses import dataclass
from typing import Final

from flask import Request

from deerflow_lite.accounts import DEFAULT_OWNER, Accounts, Token, csrf
from deerflow_lite.errors import CallerUnknown, Forbidden
from deerflow_lite.web.auth import SAFE_METHODS, Doorkeeper

SESSION_COOKIE: Final = "deerflow_lite_session"
CSRF_COOKIE: Final = "deerflow_lite_csrf"
CSRF_HEADER: Final = "X-CSRF-Token"
OPEN: Final = frozenset({"ok", "page", "docs", "static", "kept", "sign_in_page", "sign_in", "sign_out"})
NOBODY: Final = ""
_OWNER: Final = "deerflow_lite.owner"
_TOKEN: Final = "deerflow_lite.token"
_OUR_PAGES: Final = (None, "same-origin", "none")


def caller(request: Request) -> str:
    """Give the owner whose threads this request may see, as it was admitted; NOBODY owns none."""
    return str(request.environ[_OWNER])


def token_of(request: Request) -> Token | None:
    """Give the token that admitted this request, None where nobody is asked for one."""
    found: Token | None = request.environ.get(_TOKEN)
    return found


@dataclass(frozen=True)
class Callers:
    """The door's second question; `accounts` is None where nobody is asked for a token."""

    accounts: Accounts | None
    keeper: Doorkeeper

    def admit(self, request: Request) -> None:
        """Find out whose request it is, for `caller`; raises CallerUnknown, Forbidden."""
        if self.accounts is None:
            request.environ[_OWNER] = DEFAULT_OWNER
        elif (request.endpoint or "").rpartition(".")[2] in OPEN:
            request.environ[_OWNER] = NOBODY
        else:
            token = request.environ[_TOKEN] = self._token(self.accounts, request)
            request.environ[_OWNER] = token.owner

    def _token(self, accounts: Accounts, request: Request) -> Token:
        if (text := sent(request)) is not None:
            if (found := accounts.of_token(text)) is None:
                raise CallerUnknown("authorization: this token is unknown, revoked or expired")
            return found
        if (found := self.signed_in(request)) is None:
            raise CallerUnknown("authorization: a token is needed, as `Authorization: Bearer` or `X-Api-Key`")
        if request.method not in SAFE_METHODS:
            self.check_write(request, request.headers.get(CSRF_HEADER, ""))
        return found

    def signed_in(self, request: Request) -> Token | None:
        """Give the token behind the page's session, None for what another site's page asks."""
        if self.accounts is None or request.headers.get("Sec-Fetch-Site") not in _OUR_PAGES:
            return None
        return self.accounts.of_session(request.cookies.get(SESSION_COOKIE, ""))

    def check_write(self, request: Request, given: str) -> None:
        """Raise Forbidden for a write by a session that our own page did not send."""
        self.check_page(request)
        expected = csrf(request.cookies.get(SESSION_COOKIE, ""))
        if not hmac.compare_digest(given.encode(), expected.encode()):
            raise Forbidden(f"{CSRF_HEADER}: is missing or not that of the session; the cookie {CSRF_COOKIE} has it")

    def check_page(self, request: Request) -> None:
        """Raise Forbidden unless the browser says that a page of this very origin sent the request."""
        if "Origin" in request.headers:
            ours = self.keeper.own(request)
        else:
            ours = request.headers.get("Sec-Fetch-Site") == "same-origin"
        if not ours:
            raise Forbidden("Origin: a session is used by the pages of this service alone; send a token instead")


def sent(request: Request) -> str | None:
    """Give the token that the headers name, "" for a scheme that is not ours, None where they name none."""
    if (given := request.headers.get("Authorization")) is not None:
        scheme, _, text = given.partition(" ")
        return text.strip() if scheme.lower() == "bearer" else ""
    return request.headers.get("X-Api-Key")
