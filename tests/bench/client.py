"""One client on one kept connection, as light as Python gives it; it knows no route.

What is timed begins when the request is ready to be sent and ends when the answer is read.
"""

import http.client
import json
import time
from typing import Any, Self

HEADERS = {"Content-Type": "application/json"}


class Client:
    """Asks one service, one question after the other."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)

    def __enter__(self) -> Self:
        self._connection.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Give the JSON of an answer, None for an empty one."""
        return self.answer(method, path, body)[0]

    def answer(self, method: str, path: str, body: Any = None) -> tuple[Any, http.client.HTTPMessage]:
        """Give the JSON of an answer and its headers."""
        answer = self._sent(method, path, _packed(body))
        data = answer.read()
        return json.loads(data) if data else None, answer.headers

    def timed(self, method: str, path: str, body: Any = None) -> float:
        """Give the seconds of one whole answer."""
        packed = _packed(body)
        began = time.perf_counter()
        self._sent(method, path, packed).read()
        return time.perf_counter() - began

    def until_event(self, path: str, body: Any, event: str) -> float:
        """Give the seconds to the end of the first event of this name, then read the stream to its end."""
        packed, sought = _packed(body), f"event: {event}".encode()
        began = time.perf_counter()
        stream = self._sent("POST", path, packed)
        while (line := stream.readline()).rstrip() != sought:
            assert line, f"the stream had no event {event}"
        while stream.readline().strip():
            pass
        taken = time.perf_counter() - began
        stream.read()
        return taken

    def _sent(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        self._connection.request(method, path, body, HEADERS)
        answer = self._connection.getresponse()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.read()[:500]!r}")
        return answer


def _packed(body: Any) -> bytes | None:
    return None if body is None else json.dumps(body).encode()
