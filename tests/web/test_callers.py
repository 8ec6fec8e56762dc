"""AUTH=tokens: who gets in, with what, and what a session of the page may not do."""

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deerflow_lite.accounts import Accounts
from tests.runs.gates import Gate
from tests.service import Service, frames

NEEDED = {"detail": "authorization: a token is needed, as `Authorization: Bearer` or `X-Api-Key`"}
UNKNOWN = {"detail": "authorization: this token is unknown, revoked or expired"}
OPEN_PAGES = {"docs", "page", "static", "kept", "sign_in_page"}
HOME = "http://localhost"
PAGE = {"Origin": HOME, "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def app(make: Callable[..., Flask]) -> Flask:
    return make(auth="tokens")


@pytest.fixture
def accounts(app: Flask) -> Accounts:
    found: Accounts = app.extensions["deerflow_lite"].accounts
    return found


def sign_in(client: FlaskClient, token: str) -> str:
    """Sign in as a page does and give its CSRF token."""
    assert client.post("/signin", data={"token": token}, headers=PAGE).status_code == 303
    kept = client.get_cookie("deerflow_lite_csrf")
    assert kept is not None
    return kept.value


def test_without_a_token_only_ok_pages_static_files_and_the_sign_in_are_open(app: Flask, client: FlaskClient) -> None:
    opened = set()
    for rule in app.url_map.iter_rules():
        path = "/" + "/".join("signin.css" if part.startswith("<path") else "x" if part.startswith("<") else part
                              for part in rule.rule.strip("/").split("/"))  # fmt: skip
        for method in sorted((rule.methods or set()) - {"OPTIONS"}):
            with client.open(path, method=method) as answer:
                if answer.status_code != 401:
                    opened.add((rule.endpoint.rpartition(".")[2], method, answer.status_code))
                elif method != "HEAD":
                    assert (answer.json, answer.headers["WWW-Authenticate"]) == (NEEDED, "Bearer")
    pages = {(name, method, status) for name in OPEN_PAGES for method, status in (("GET", 200), ("HEAD", 200))}
    # a form without the origin that every browser sends is refused
    pages |= {("sign_in", "POST", 403), ("sign_out", "POST", 403)}
    assert opened == pages | {("ok", "GET", 200), ("ok", "HEAD", 200)}


@pytest.mark.parametrize("path", ["/nowhere", "/threads/none", "/api/openapi.json", "/metrics", "/threads//"])
def test_what_exists_cannot_be_told_without_a_token(client: FlaskClient, path: str) -> None:
    assert (client.get(path).status_code, client.get(path).json) == (401, NEEDED)


def test_bearer_and_x_api_key_are_the_owner_of_the_token(client: FlaskClient, accounts: Accounts) -> None:
    _, alice = accounts.create("alice")
    _, laptop = accounts.create("laptop", "alice")
    _, bob = accounts.create("bob")
    made = client.post("/threads", json={"thread_id": "t"}, headers={"Authorization": f"Bearer {alice}"})
    assert made.status_code == 200
    for headers in ({"X-Api-Key": alice}, {"Authorization": f"bearer  {laptop}"}, {"X-Api-Key": laptop}):
        assert client.get("/threads/t", headers=headers).status_code == 200
    assert client.get("/threads/t", headers={"X-Api-Key": bob}).status_code == 404


def test_a_caller_named_in_the_metadata_is_nobody(client: FlaskClient, accounts: Accounts) -> None:
    _, alice = accounts.create("alice")
    _, bob = accounts.create("bob")
    body = {"thread_id": "t", "metadata": {"owner": "bob", "owner_id": "bob", "user_id": "bob"}}
    assert client.post("/threads", json=body, headers={"X-Api-Key": alice}).status_code == 200
    assert client.get("/threads/t", headers={"X-Api-Key": bob}).status_code == 404
    assert client.post("/threads/count", headers={"X-Api-Key": bob}).json == 0


def test_what_is_no_token_is_refused_and_no_other_way_in_is_tried(client: FlaskClient, accounts: Accounts) -> None:
    _, text = accounts.create("alice")
    csrf = sign_in(client, text)
    for headers in (
        {"Authorization": ""}, {"Authorization": "Bearer"}, {"Authorization": f"Basic {text}"}, {"Authorization": text},
        {"Authorization": "Bearer x", "X-Api-Key": text}, {"X-Api-Key": ""}, {"X-Api-Key": f"{text}x"},
        {"X-Api-Key": "\xe9" * 60}, {"Authorization": f"Bearer {text} {text}"},
    ):  # fmt: skip
        for method, path in (("GET", "/threads/none"), ("POST", "/threads/count")):
            answer = client.open(path, method=method, headers=PAGE | {"X-CSRF-Token": csrf} | headers)
            assert (answer.status_code, answer.json) == (401, UNKNOWN), headers


def test_a_revoked_token_is_refused_at_the_next_call(client: FlaskClient, accounts: Accounts) -> None:
    alice, text = accounts.create("alice")
    headers = {"X-Api-Key": text}
    csrf = sign_in(client, text)
    assert client.post("/threads/count", headers=headers).status_code == 200
    assert client.get("/info").status_code == 200
    accounts.revoke(alice.token_id)
    assert client.post("/threads/count", headers=headers).json == UNKNOWN
    assert client.post("/threads/count", headers=PAGE | {"X-CSRF-Token": csrf}).json == NEEDED
    assert client.get("/info").json == NEEDED


def test_a_session_reads_for_our_own_page_and_writes_with_its_csrf_token_alone(
    client: FlaskClient, accounts: Accounts
) -> None:
    csrf = sign_in(client, accounts.create("alice")[1])
    other = client.application.test_client()
    foreign = sign_in(other, accounts.create("bob")[1])
    for site in (None, "same-origin", "none"):
        headers = {} if site is None else {"Sec-Fetch-Site": site}
        assert client.get("/info", headers=headers).status_code == 200
    for site in ("same-site", "cross-site", "odd", ""):
        assert client.get("/info", headers={"Sec-Fetch-Site": site}).json == NEEDED
    for headers in (
        {}, PAGE, {"X-CSRF-Token": csrf}, {"X-CSRF-Token": csrf, "Origin": f"{HOME}:81"},
        *(PAGE | {"X-CSRF-Token": wrong} for wrong in (foreign, csrf[:-1], "\xe9")),
    ):  # fmt: skip
        for method, path in (("POST", "/threads"), ("PATCH", "/threads/t"), ("DELETE", "/threads/t"), ("PUT", "/x")):
            answer = client.open(path, method=method, headers=headers, json={})
            assert answer.status_code == 403, (headers, answer.json)
    for headers in (PAGE | {"X-CSRF-Token": csrf}, {"Sec-Fetch-Site": "same-origin", "X-CSRF-Token": csrf}):
        assert client.post("/threads", headers=headers, json={}).status_code == 200
    assert client.post("/threads/count", headers=PAGE | {"X-CSRF-Token": csrf}).json == 2


def test_an_origin_in_the_settings_calls_with_a_token_and_never_with_a_session(make: Callable[..., Flask]) -> None:
    app = make(auth="tokens", cors_origins=("http://localhost:3000",))
    _, text = app.extensions["deerflow_lite"].accounts.create("alice")
    client = app.test_client()
    csrf = sign_in(client, text)
    theirs = {"Origin": "http://localhost:3000"}
    answer = client.post("/threads", headers=theirs | {"X-CSRF-Token": csrf}, json={})
    assert (answer.status_code, "Access-Control-Allow-Credentials" in answer.headers) == (403, False)
    answer = client.post("/threads", headers=theirs | {"X-Api-Key": text}, json={})
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, theirs["Origin"])


def test_a_preflight_and_a_refusal_of_host_or_origin_come_before_the_caller(client: FlaskClient) -> None:
    asked = {"Origin": HOME, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answer = client.options("/threads", headers=asked)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Headers"]) == (204, "authorization")
    assert client.options("/threads").status_code == 401
    assert client.get("/info", headers={"Host": "evil.example"}).status_code == 403
    assert client.post("/threads", headers={"Origin": "http://evil.example"}).status_code == 403
    refused = client.post("/threads", headers={"Origin": HOME}, json={})
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, HOME)
    assert client.post("/threads", data=b"[").json == NEEDED


def test_loopback_pages_of_other_ports_are_foreign_where_tokens_are_asked(client: FlaskClient) -> None:
    assert client.post("/threads", headers={"Origin": "http://localhost:3000"}).status_code == 403


def test_a_stream_and_a_wait_end_when_their_token_is_revoked(serve: Callable[..., Service], gate: Gate) -> None:
    service = serve(auth="tokens")
    alice = service.of("alice")
    [token] = service.gateway.accounts.listed()
    thread = alice.thread()
    run = alice.start(thread, "held", gate.text)["run_id"]
    with alice.call("GET", f"/threads/{thread}/runs/{run}/stream") as streamed:
        came = frames(iter(streamed.response))  # type: ignore[arg-type]
        assert next(came).event == "metadata"
        gate.await_reached()
        service.gateway.accounts.revoke(token.token_id)
        assert "end" not in [frame.event for frame in came]
    gate.open()
    again = service.of("alice")
    assert again.join(thread, run)["messages"][-1]["content"]
    assert again.status(thread, run) == "success"
