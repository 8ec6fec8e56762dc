"""Host, Origin, CORS and the three mounts."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.conftest import making

EXPOSED = "Content-Location, Location, X-Pagination-Total, X-Pagination-Next, X-Pagination-Total-Capped, X-Next-Cursor"
OURS = [
    "http://localhost:3000", "http://localhost", "https://localhost:1", "http://127.0.0.1:5173", "http://[::1]:8000",
    "HTTP://LOCALHOST:3000",
]  # fmt: skip
FOREIGN = [
    "null", "http://evil.example", "http://localhost.evil.example", "http://evil.example:2026", "http://127.0.0.1.nip.io",
    "file://", "localhost:3000", "http://localhost:3000/x", "http://user@localhost", "http://localhost:99999",
    "ftp://localhost", "http://0.0.0.0", "", "http://", "http://127.0.0.2:3000", "http://localhost:3000, http://a.b",
]  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """One service for all who only knock."""
    with making(tmp_path_factory.mktemp("door")) as make_one:
        yield make_one().test_client()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:2026", "[::1]", "[::1]:80", "chat.example:8"])
def test_a_host_of_ours_is_answered_on_any_port(make: Callable[..., Flask], host: str) -> None:
    client = make(allowed_hosts=("Chat.Example",)).test_client()
    assert client.get("/ok", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "", "localhost.evil.example", "localhost:x", "localhost:", "localhost:99999", "a b", "::1",
     "127.0.0.1.", "x" * 400, "localhost@evil", "localhost/evil", "\xfc.de", "127.0.0.2"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/ok", "/", "/nowhere", "/static/css/base.css", "/api/openapi.json"])
def test_a_foreign_host_is_refused_on_every_path(client: FlaskClient, host: str, path: str) -> None:
    answer = client.get(path, headers={"Host": host})
    assert (answer.status_code, answer.json["detail"][:5]) == (403, "Host:")


def test_the_host_that_the_service_listens_on_is_its_own(make: Callable[..., Flask]) -> None:
    client = make(host="127.0.0.2").test_client()
    assert client.get("/ok", headers={"Host": "127.0.0.2:2026"}).status_code == 200


@pytest.mark.parametrize("origin", OURS)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE", "PUT"])
def test_an_origin_of_ours_gets_cors_answers_on_success_and_on_errors(
    client: FlaskClient, origin: str, method: str
) -> None:
    answer = client.open("/threads/none", method=method, headers={"Origin": origin})
    assert answer.status_code in (404, 405)
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    assert answer.headers["Access-Control-Expose-Headers"] == EXPOSED
    assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_origin_reads_without_cors_and_writes_nothing(client: FlaskClient, origin: str) -> None:
    headers = {"Origin": origin}
    for method in ("GET", "HEAD", "OPTIONS"):
        answer = client.open("/ok", method=method, headers=headers)
        assert answer.status_code in (200, 204)
        assert "Access-Control-Allow-Origin" not in answer.headers
    for method, path in (("POST", "/threads"), ("PATCH", "/threads/t"), ("DELETE", "/threads/t"), ("PUT", "/nowhere")):
        answer = client.open(path, method=method, headers=headers, json={})
        assert (answer.status_code, answer.json["detail"][:7]) == (403, "Origin:")
        assert not [name for name in answer.headers.keys() if name.startswith("Access-Control")]
    assert client.post("/threads/count").json == 0


def test_an_origin_that_is_the_requests_own_host_is_ours(make: Callable[..., Flask]) -> None:
    client = make(allowed_hosts=("chat.example",)).test_client()
    for host, origin in (
        ("chat.example", "https://chat.example"),
        ("chat.example", "http://chat.example:80"),
        ("chat.example:8080", "http://chat.example:8080"),
        ("chat.example:443", "https://chat.example"),
    ):
        assert client.post("/threads", headers={"Host": host, "Origin": origin}).status_code == 200
    wrong = {"Host": "chat.example:8080", "Origin": "http://chat.example:9090"}
    assert client.post("/threads", headers=wrong).status_code == 403
    rebound = client.post("/threads", headers={"Host": "evil.example", "Origin": "http://evil.example"})
    assert rebound.status_code == 403
    assert "Access-Control-Allow-Origin" not in rebound.headers


def test_an_origin_in_the_settings_is_ours(make: Callable[..., Flask]) -> None:
    client = make(cors_origins=("https://App.example/",)).test_client()
    answer = client.post("/threads", headers={"Origin": "https://app.example"})
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "https://app.example")
    assert client.post("/threads", headers={"Origin": "http://app.example"}).status_code == 403


def test_loopback_origins_are_foreign_where_the_service_is_not_on_loopback(make: Callable[..., Flask]) -> None:
    client = make(host="192.0.2.7").test_client()
    headers = {"Host": "192.0.2.7:2026", "Origin": "http://localhost:3000"}
    assert client.post("/threads", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "path", ["/threads/search", "/api/threads/t", "/api/langgraph/threads", "/nowhere", "/assistants"]
)
def test_a_preflight_is_204_with_the_asked_headers_echoed(client: FlaskClient, path: str) -> None:
    asked = {
        "Origin": "http://localhost:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-odd",
        "Access-Control-Request-Private-Network": "true",
    }
    answer = client.options(path, headers=asked)
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
    assert answer.headers["Access-Control-Allow-Headers"] == "content-type,x-odd"
    assert answer.headers["Access-Control-Allow-Methods"] == "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
    assert answer.headers["Access-Control-Allow-Private-Network"] == "true"
    foreign = client.options(path, headers=asked | {"Origin": "http://evil.example"})
    assert foreign.status_code == 204
    assert not [name for name in foreign.headers.keys() if name.startswith("Access-Control")]


def test_every_answer_carries_the_security_headers(client: FlaskClient) -> None:
    for path in ("/", "/ok", "/nowhere", "/threads/none", "/docs", "/static/app.js"):
        headers = client.get(path, buffered=True).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
        policy = headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy and policy.endswith("frame-ancestors 'none'")


def test_no_cache_keeps_an_answer_of_the_api(client: FlaskClient) -> None:
    for path in ("/ok", "/nowhere", "/threads/none", "/assistants/none"):
        assert client.get(path).headers["Cache-Control"] == "no-store"
    assert "no-store" not in client.get("/static/signin.css", buffered=True).headers.get("Cache-Control", "")


@pytest.mark.parametrize("mount", ["", "/api", "/api/langgraph"])
@pytest.mark.parametrize("end", ["", "/"])
def test_the_same_handlers_answer_at_three_mounts_and_never_redirect(client: FlaskClient, mount: str, end: str) -> None:
    made = client.post(f"{mount}/threads{end}", json={"thread_id": "t1"})
    assert made.status_code == 200
    assert client.get(f"{mount}/threads/t1{end}").json == made.json
    assert client.post(f"{mount}/threads/search{end}").json == [made.json]
    assert client.get(f"{mount}/ok{end}").json == {"ok": True}
    assert client.delete(f"{mount}/threads/t1{end}").status_code == 204


@pytest.mark.parametrize("path", ["/nowhere", "/api/nowhere", "/threads/a/b/c", "/threads//", "/static/no.js"])
def test_an_unknown_path_is_404_in_json(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype, list(answer.json)) == (404, "application/json", ["detail"])


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "/threads", "OPTIONS, POST"), ("POST", "/threads/t", None),
     ("POST", "/assistants", "OPTIONS"), ("PATCH", "/assistants/x", "GET, HEAD, OPTIONS"), ("TRACE", "/ok", None),
     ("DELETE", "/assistants/x", None), ("POST", "/assistants/x/versions", None),
     ("POST", "/assistants/x/latest", None), ("POST", "/", "GET, HEAD, OPTIONS")],
)  # fmt: skip
def test_an_unserved_method_is_405_in_json_with_allow(
    client: FlaskClient, method: str, path: str, allowed: Any
) -> None:
    answer = client.open(path, method=method)
    assert (answer.status_code, answer.mimetype, list(answer.json)) == (405, "application/json", ["detail"])
    assert allowed in (None, answer.headers["Allow"])


def test_head_and_options_have_no_body(client: FlaskClient) -> None:
    head = client.head("/ok")
    assert (head.status_code, head.data, head.headers["Content-Length"]) == (200, b"", "11")
    options = client.options("/threads/x")
    assert (options.status_code, options.data) == (204, b"")
    assert sorted(options.headers["Allow"].split(", ")) == ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH"]
    assert client.options("/nowhere").status_code == 404


def test_no_url_is_built_from_a_rule_so_that_no_start_compiles_what_would(make: Callable[..., Flask]) -> None:
    with pytest.raises(NotImplementedError, match="no URL is built from /chats"):
        make().url_map.bind("localhost").build("page", {"thread_id": "t"})
