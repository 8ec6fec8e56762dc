"""Serves with cheroot, pure Python in this one process: where granian has no wheel, and for tests."""

import os
import threading
import time
from queue import SimpleQueue
from typing import Any, NoReturn

from deerflow_lite.config import Config
from deerflow_lite.server.address import Address
from deerflow_lite.server.lifeline import LAST_REQUESTS, leave, on_signals
from deerflow_lite.server.service import Service

THREADS = 512
BACKLOG = 1024


def serve_here(config: Config, address: Address) -> NoReturn:
    """Serve until a signal, then end the process; raises what opening the service raises."""
    from cheroot.wsgi import Server

    # not an event: a handler that sets one hangs where it has interrupted the wait for it
    signals: SimpleQueue[None] = SimpleQueue()
    on_signals(lambda *_: signals.put(None))
    service = Service.open(config, address)
    server: Any = Server((address.ip, address.port), service.app, numthreads=THREADS, request_queue_size=BACKLOG)
    server.prepare()
    threading.Thread(target=server.serve, name="cheroot", daemon=True).start()
    while not service.answers():
        time.sleep(0.005)
    service.start(os.getpid())
    signals.get()
    service.stop()
    # stopping the server waits for every answer, also for one whose client reads no more
    last = threading.Thread(target=server.stop, name="last requests", daemon=True)
    last.start()
    last.join(LAST_REQUESTS)
    leave(0)
