"""The process that holds open streams: plain sockets in one loop, what comes is thrown away.

It prints `open` when each stream has sent its first event, ends at the end of stdin and then prints how many streams
had been closed by the service.
"""

import selectors
import socket
import sys

PIECE = 65536


def opened(host: str, port: int, path: str) -> socket.socket:
    """Open one stream and read its first event."""
    stream = socket.create_connection((host, port), timeout=30)
    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    seen = b""
    while b"event: metadata\n" not in seen:
        piece = stream.recv(PIECE)
        if not piece or (seen and not seen.startswith(b"HTTP/1.1 200")):
            sys.exit(f"no stream: {seen[:500]!r}")
        seen += piece
    return stream


def hold(streams: list[socket.socket]) -> int:
    """Read from all until stdin ends; gives how many were closed from the other side."""
    closed = 0
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin, selectors.EVENT_READ)
        for stream in streams:
            stream.setblocking(False)
            selector.register(stream, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    return closed
                assert isinstance(key.fileobj, socket.socket)
                if not key.fileobj.recv(PIECE):
                    selector.unregister(key.fileobj)
                    closed += 1


def main(url: str, count: str, *paths: str) -> None:
    """Hold `count` streams, spread over the paths."""
    host, _, port = url.removeprefix("http://").partition(":")
    streams = [opened(host, int(port), paths[number % len(paths)]) for number in range(int(count))]
    print("open", flush=True)
    print(hold(streams), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
