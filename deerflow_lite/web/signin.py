"""The sign-in of the pages: a token is exchanged for a session that only this origin's pages can use; no script needed.

It decides nothing about tokens. Invariants: the token itself is never kept by the browser; the session's cookie is out
of reach of scripts and of other sites; nobody is sent on to another site.
"""

import re
from typing import Any, Final

from flask import Flask, Response, redirect, render_template, request

from deerflow_lite.accounts import SESSION_DAYS, Token, csrf
from deerflow_lite.web.callers import CSRF_COOKIE, SESSION_COOKIE, Callers

UNKNOWN: Final = "This token is unknown, revoked or expired."
_HERE: Final = re.compile(r"/(?:[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*)?(?:\?[A-Za-z0-9_=&%.+-]*)?")


def install(app: Flask, callers: Callers) -> None:
    """Serve `/signin` and `/signout`; where no token is asked for they lead to the start page."""
    accounts = callers.accounts

    def sign_in_page() -> Any:
        if accounts is None:
            return redirect("/", 303)
        return _page(callers, _onward(request.args.get("next", "/")))

    def sign_in() -> Any:
        if accounts is None:
            return redirect("/", 303)
        callers.check_page(request)
        onward = _onward(request.form.get("next", "/"))
        found = accounts.of_token(request.form.get("token", "").strip())
        if found is None:
            return _page(callers, onward, UNKNOWN), 401
        if callers.signed_in(request):
            accounts.sign_out(request.cookies[SESSION_COOKIE])
        return _with_cookies(redirect(onward, 303), accounts.sign_in(found))

    def sign_out() -> Any:
        callers.check_page(request)
        if accounts is not None and callers.signed_in(request):
            callers.check_write(request, request.form.get("csrf", ""))
            accounts.sign_out(request.cookies[SESSION_COOKIE])
        answer = redirect("/" if accounts is None else "/signin", 303)
        for name in (SESSION_COOKIE, CSRF_COOKIE):
            answer.delete_cookie(name)
        return answer

    app.add_url_rule("/signin", "sign_in_page", sign_in_page)
    app.add_url_rule("/signin", "sign_in", sign_in, methods=["POST"])
    app.add_url_rule("/signout", "sign_out", sign_out, methods=["POST"])


def _page(callers: Callers, onward: str, problem: str = "") -> Response:
    token: Token | None = callers.signed_in(request)
    known = csrf(request.cookies[SESSION_COOKIE]) if token is not None else ""
    shown = render_template("signin.html", token=token, csrf=known, onward=onward, problem=problem)
    return Response(shown, headers={"Cache-Control": "no-store"})


def _onward(path: str) -> str:
    return path if _HERE.fullmatch(path) else "/"


def _with_cookies(answer: Any, session: str) -> Any:
    """Set the session, and the page's CSRF token where its script can read it; over TLS they stay there."""
    secure = request.headers.get("Origin", "").startswith("https:")
    for name, value, hidden in ((SESSION_COOKIE, session, True), (CSRF_COOKIE, csrf(session), False)):
        answer.set_cookie(name, value, max_age=SESSION_DAYS * 86_400, httponly=hidden, secure=secure, samesite="Strict")
    return answer
