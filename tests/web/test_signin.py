"""The sign-in of the pages, as a browser without scripts uses it."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deerflow_lite.accounts import Accounts

PAGE = {"Origin": "http://localhost"}


@pytest.fixture
def app(make: Callable[..., Flask]) -> Flask:
    return make(auth="tokens")


@pytest.fixture
def accounts(app: Flask) -> Accounts:
    found: Accounts = app.extensions["deerflow_lite"].accounts
    return found


def test_signing_in_makes_a_session_that_scripts_and_other_sites_cannot_use(
    client: FlaskClient, accounts: Accounts
) -> None:
    _, text = accounts.create("alice")
    shown = client.get("/signin?next=/chats/abc")
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    assert 'name="next" value="/chats/abc"' in shown.text and "<script" not in shown.text
    answer = client.post("/signin", data={"token": f" {text}\n", "next": "/chats/abc?q=a%20b"}, headers=PAGE)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/chats/abc?q=a%20b")
    session, csrf = answer.headers.getlist("Set-Cookie")
    assert session.startswith("deerflow_lite_session=") and csrf.startswith("deerflow_lite_csrf=")
    assert session.endswith("; HttpOnly; Path=/; SameSite=Strict")
    assert "HttpOnly" not in csrf and csrf.endswith("; Path=/; SameSite=Strict")
    assert text[17:] not in str(answer.headers)
    assert "Signed in as <strong>alice</strong>" in client.get("/signin").text
    assert client.get("/info").status_code == 200


def test_over_tls_the_cookies_stay_there(make: Callable[..., Flask]) -> None:
    app = make(auth="tokens", allowed_hosts=("chat.example",))
    _, text = app.extensions["deerflow_lite"].accounts.create("alice")
    headers = {"Host": "chat.example", "Origin": "https://chat.example"}
    answer = app.test_client().post("/signin", data={"token": text}, headers=headers)
    assert ["Secure" in cookie for cookie in answer.headers.getlist("Set-Cookie")] == [True, True]


@pytest.mark.parametrize("token", ["", "x", "dfl_000000000000_" + "A" * 43, "<script>alert(1)</script>", "\0é" * 500])
def test_what_is_no_token_signs_nobody_in_and_says_so(client: FlaskClient, token: str) -> None:
    answer = client.post("/signin", data={"token": token, "next": "/chats"}, headers=PAGE)
    assert (answer.status_code, answer.headers.getlist("Set-Cookie")) == (401, [])
    assert '<p id="problem" role="alert">This token is unknown, revoked or expired.</p>' in answer.text
    assert 'name="next" value="/chats"' in answer.text
    assert "alert(1)" not in answer.text


@pytest.mark.parametrize(
    "onward",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a//b", "/a\n", "/%2fe", ""],
)
def test_nobody_is_sent_on_to_another_site(client: FlaskClient, accounts: Accounts, onward: str) -> None:
    _, text = accounts.create("alice")
    assert 'name="next" value="/"' in client.get("/signin", query_string={"next": onward}).text
    answer = client.post("/signin", data={"token": text, "next": onward}, headers=PAGE)
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "null"}, {"Origin": "http://evil.example"}, {"Origin": "http://localhost:3000"},
     {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
)  # fmt: skip
def test_another_sites_page_signs_nobody_in_or_out(
    client: FlaskClient, accounts: Accounts, headers: dict[str, str]
) -> None:
    _, text = accounts.create("alice")
    for path in ("/signin", "/signout"):
        answer = client.post(path, data={"token": text}, headers=headers)
        assert (answer.status_code, answer.headers.getlist("Set-Cookie")) == (403, [])


def test_signing_out_ends_the_session_and_needs_its_csrf_token(client: FlaskClient, accounts: Accounts) -> None:
    alice, text = accounts.create("alice")
    client.post("/signin", data={"token": text}, headers=PAGE)
    kept = client.get_cookie("deerflow_lite_session")
    assert kept is not None
    assert client.post("/signout", data={"csrf": "x"}, headers=PAGE).status_code == 403
    assert accounts.of_session(kept.value) == alice
    [csrf] = re.findall(r'name="csrf" value="(\w+)"', client.get("/signin").text)
    answer = client.post("/signout", data={"csrf": csrf}, headers=PAGE)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/signin")
    assert client.get_cookie("deerflow_lite_session") is None
    assert client.get_cookie("deerflow_lite_csrf") is None
    assert accounts.of_session(kept.value) is None
    assert client.get("/info").status_code == 401
    assert client.post("/signout", headers=PAGE).status_code == 303


def test_signing_in_again_ends_the_session_before(client: FlaskClient, accounts: Accounts) -> None:
    _, text = accounts.create("alice")
    bob, other = accounts.create("bob")
    client.post("/signin", data={"token": text}, headers=PAGE)
    first = client.get_cookie("deerflow_lite_session")
    client.post("/signin", data={"token": other}, headers=PAGE)
    second = client.get_cookie("deerflow_lite_session")
    assert first is not None and second is not None
    assert (accounts.of_session(first.value), accounts.of_session(second.value)) == (None, bob)


def test_without_tokens_there_is_nothing_to_sign_in_to(make: Callable[..., Flask]) -> None:
    client = make().test_client()
    answers = [client.get("/signin"), client.post("/signin", headers=PAGE), client.post("/signout", headers=PAGE)]
    assert [(answer.status_code, answer.headers["Location"]) for answer in answers] == [(303, "/")] * 3
    assert all(answer.headers.getlist("Set-Cookie") == [] for answer in answers[:2])


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"token=" + b"x" * 5000, "application/x-www-form-urlencoded"), (b'{"token": "x"}', "application/json"),
     (b"\xff%zz&=&&", "application/x-www-form-urlencoded"), (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
     (b"token=x", "multipart/form-data"), (b"token", "text/plain")],
)  # fmt: skip
def test_a_form_of_any_kind_is_answered(make: Callable[..., Flask], body: bytes, kind: str) -> None:
    client = make(auth="tokens", max_body=1024).test_client()
    for path, status in (("/signin", 401), ("/signout", 303)):
        assert client.post(path, data=body, content_type=kind, headers=PAGE).status_code == status
