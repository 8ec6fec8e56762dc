"""Serves with granian: a parent that holds port and lifeline, and one worker process; it opens no file itself.

Invariants: the parent ends only after its worker; a worker whose parent is gone leaves at once.
"""

import os
import socket
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deerflow_lite.config import Config
from deerflow_lite.errors import DeerflowError
from deerflow_lite.server.address import Address, bound
from deerflow_lite.server.lifeline import LAST_REQUESTS, Heard, Lifeline, leave, on_signals
from deerflow_lite.server.service import Service

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

THREADS = 512
BACKPRESSURE = 4000
KILL_AFTER = 5


def serve_in_worker(config: Config, address: Address) -> int:
    """Serve until a signal and give the exit code; raises SettingInvalid or CannotServe, as the worker complained."""
    from granian import Granian
    from granian.constants import Interfaces

    lifeline = Lifeline()
    server = Granian(
        "deerflow_lite",
        address=address.ip,
        port=address.port,
        interface=Interfaces.WSGI,
        blocking_threads=THREADS,
        backpressure=BACKPRESSURE,
        websockets=False,
        log_enabled=False,
        workers_kill_timeout=config.stop_grace + KILL_AFTER,
    )
    stopping = False
    interrupt: Callable[..., None] = server.signal_handler_interrupt

    def stop(*_: object) -> None:
        nonlocal stopping
        (lifeline.let_go if stopping else lifeline.say_stop)()
        stopping = True
        # it sets the event that the interrupted thread waits for, and that one may hold the event's lock
        threading.Thread(target=interrupt, name="interrupt", daemon=True).start()

    # granian sets its own handlers first, which would end the worker before its streams and runs have ended
    server.on_startup(lambda: on_signals(stop))
    try:
        # granian listens with SO_REUSEPORT; this socket never listens, it keeps the port from everybody else
        with closing(bound(address, socket.SO_REUSEADDR, socket.SO_REUSEPORT)):
            server.serve(target_loader=Worker(config, address, lifeline, os.getpid()))
    except SystemExit:
        if not stopping:
            raise lifeline.complaint() from None
    return 0


@dataclass(frozen=True)
class Worker:
    """The process that serves: granian calls this object there to get the application."""

    config: Config
    address: Address
    lifeline: Lifeline
    parent: int

    def __call__(self, _target: str) -> "WSGIApplication":
        """Open the service and start the thread that follows the lifeline; ends the process when it cannot."""
        self.lifeline.hold()
        try:
            service = Service.open(self.config, self.address)
        except (DeerflowError, OSError, sqlite3.Error) as error:
            self.lifeline.complain(error)
            leave(1)
        threading.Thread(target=self._attend, args=(service,), name="lifeline").start()
        return service.app

    def _attend(self, service: Service) -> None:
        try:
            leave(self._attended(service))
        except (DeerflowError, OSError, sqlite3.Error) as error:
            self.lifeline.complain(error)
        finally:
            leave(1)

    def _attended(self, service: Service) -> int:
        heard = None
        while heard is None and not service.answers():
            heard = self.lifeline.heard(0.005)
        if heard is None:
            service.start(self.parent)
        while heard is None and threading.main_thread().is_alive():
            heard = self.lifeline.heard(1.0)
        if heard is Heard.BROKEN:
            return 1
        service.stop()
        threading.main_thread().join(LAST_REQUESTS)
        return 0
