"""Bodies are strict JSON, wholly read whatever is answered."""

import io
import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from deerflow_lite.errors import Invalid
from deerflow_lite.web.body import DEPTH, json_object


def refusal(raw: bytes) -> str:
    with pytest.raises(Invalid) as caught:
        json_object(raw)
    assert list(caught.value.errors) == ["body"]
    return caught.value.detail


@pytest.mark.parametrize("raw", [b"", b"  \n", b"{}"])
def test_an_empty_body_is_an_empty_object(raw: bytes) -> None:
    assert json_object(raw) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"{nope", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b'{"a": 1e400}', b'{"a": -1e400}',
        b'{"a": "\\ud83d"}', b'{"\\ude00": 1}', b'{"a": "\xff"}', b"\xef\xbb\xbf{}", b'{"a": 1} x', b'{"a": "\x00"}',
        b"{'a': 1}", b'{"a": 01}', b"{", b'{"a": 1,}', b'{"a":' * 5000,
    ],
)  # fmt: skip
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    assert refusal(raw).startswith("body: is not valid JSON")


@pytest.mark.parametrize("raw", [b"[1]", b"null", b'"x"', b"1", b"true"])
def test_a_body_that_is_no_object_is_refused(raw: bytes) -> None:
    assert refusal(raw) == "body: must be a JSON object"


@pytest.mark.parametrize(
    "raw", [b'{"a": 1, "a": 1}', b'{"b": [{"a": 1, "c": 2, "a": null}]}', b'{"a": 1, "\\u0061": 2}']
)
def test_a_key_that_stands_twice_in_an_object_is_refused_at_any_depth(raw: bytes) -> None:
    assert refusal(raw) == 'body: has the key "a" twice in one object'


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert json_object(b'{"a": {"a": [{"a": 1}, {"a": 2}]}}') == {"a": {"a": [{"a": 1}, {"a": 2}]}}


@pytest.mark.parametrize("digits", [str(2**63), str(-(2**63) - 1), "12345678901234567890", "1" * 300, "1" * 6000])
def test_an_integer_beyond_signed_64_bit_is_refused(digits: str) -> None:
    assert refusal(f'{{"a": [{digits}]}}'.encode()).startswith("body: ")


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 2**53 + 1, 0, -1])
def test_an_integer_of_64_bit_is_kept_exactly(number: int) -> None:
    assert json_object(json.dumps({"a": number}).encode()) == {"a": number}


def test_nesting_is_refused_beyond_its_limit_and_never_recurses() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    assert "a" in json_object(nested(DEPTH))
    for depth in (DEPTH + 1, 500, 1000):
        assert refusal(nested(depth)) == f"body: is nested deeper than {DEPTH}"


def test_many_brackets_in_a_flat_body_are_fine() -> None:
    assert json_object(json.dumps({"a": [[]] * 1000, "b": "[" * 1000}).encode())["a"] == [[]] * 1000


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", None, "multipart/form-data"]
)
def test_a_body_is_json_whatever_its_content_type_says(client: FlaskClient, content_type: str | None) -> None:
    made = client.post("/threads", data=b'{"thread_id": "t1"}', content_type=content_type)
    assert (made.status_code, made.json["thread_id"]) == (200, "t1")


class Pieces:
    """A stream that counts what is left in it."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, size: int = -1) -> bytes:
        given = min(size, self.left)
        self.left -= given
        return b"x" * given


def sent(stream: Any, length: int | None) -> dict[str, Any]:
    """The WSGI environment of a request whose body is still in the socket."""
    if length is None:
        return {"wsgi.input": stream, "CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    return {"wsgi.input": stream, "CONTENT_LENGTH": str(length)}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/nowhere", {}, 404),
        ("PUT", "/threads", {}, 405),
        ("POST", "/threads", {"Host": "evil.example"}, 403),
        ("POST", "/threads", {"Origin": "http://evil.example"}, 403),
        ("POST", "/threads", {}, 422),
        ("DELETE", "/threads/none", {}, 404),
        ("GET", "/", {}, 200),
    ],
)
def test_every_body_is_read_before_the_answer(
    client: FlaskClient, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    stream = Pieces(300_000)
    answer = client.open(path, method=method, headers=headers, environ_overrides=sent(stream, 300_000))
    assert (answer.status_code, stream.left) == (status, 0)


def test_a_body_over_the_limit_is_413_and_read_all_the_same(make: Any) -> None:
    client = make(max_body=1024).test_client()
    for length in (1025, 5_000_000):
        stream = Pieces(length)
        answer = client.post("/threads", environ_overrides=sent(stream, length))
        assert (answer.status_code, stream.left) == (413, 0)
        assert answer.json == {
            "detail": "body: is larger than 1024 bytes (setting MAX_BODY)",
            "errors": {"body": ["is larger than 1024 bytes (setting MAX_BODY)"]},
        }
    assert client.post("/threads", data=b'{"metadata": {"a": "' + b"x" * 900 + b'"}}').status_code == 200


def test_a_body_that_ends_early_is_refused(client: FlaskClient) -> None:
    answer = client.post("/threads", environ_overrides=sent(io.BytesIO(b"{}"), 10))
    assert (answer.status_code, answer.json["detail"]) == (422, "body: ended before its Content-Length")


def test_a_chunked_body_is_read_to_its_end(make: Any) -> None:
    client = make(max_body=1024).test_client()
    chunked = sent(io.BytesIO(b'{"thread_id": "t9"}'), None)
    made = client.post("/threads", environ_overrides=chunked)
    assert (made.status_code, made.json["thread_id"]) == (200, "t9")
    stream = Pieces(9000)
    assert (client.post("/threads", environ_overrides=sent(stream, None)).status_code, stream.left) == (413, 0)
