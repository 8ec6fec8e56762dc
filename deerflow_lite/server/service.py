"""The application over its folder, in the process that serves; it knows neither granian nor cheroot.

Invariant: the folder's lock is held before the file is opened, for opening recovers what a stopped service left.
"""

import gc
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deerflow_lite.accounts import DEFAULT_OWNER, live
from deerflow_lite.config import Config
from deerflow_lite.server.address import Address
from deerflow_lite.server.lifeline import CannotServe, FolderLock
from deerflow_lite.server.logs import log_to_stderr

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from deerflow_lite.gateway import Gateway


@dataclass(frozen=True)
class Service:
    """The application, the gateway under it and the lock on its folder, in the process that serves."""

    config: Config
    address: Address
    lock: FolderLock
    gateway: "Gateway"
    app: "WSGIApplication"

    @classmethod
    def open(cls, config: Config, address: Address) -> "Service":
        """Take the folder and open everything in it; raises CannotServe, DeerflowError, OSError or sqlite3.Error."""
        log_to_stderr(config.log_level)
        lock = FolderLock(config.instance)
        lock.take(address.url)
        from deerflow_lite import create_app
        from deerflow_lite.gateway import Gateway

        gateway = Gateway.open(config)
        return cls(config, address, lock, gateway, create_app(config, gateway))

    def answers(self) -> bool:
        """Ask GET /ok once; False while nobody listens, raises CannotServe for another answer than 200."""
        try:
            with socket.create_connection((self.address.ip, self.address.port), timeout=10) as asked:
                question = f"GET /ok HTTP/1.1\r\nHost: {self.address.authority}\r\nConnection: close\r\n\r\n"
                asked.sendall(question.encode())
                status = asked.recv(12).decode("latin-1")
        except ConnectionError:
            return False
        if not status.endswith(" 200"):
            raise CannotServe(f"GET /ok was answered {status!r}")
        return True

    def start(self, pid: int) -> None:
        """Let runs execute and print where the service is."""
        self.gateway.start()
        threading.Thread(target=self._spare, name="spare", daemon=True).start()
        with suppress(OSError):
            print(self.address.url)
            print(f"Everything is kept in {self.config.database.resolve()}")
            for line in self._about_tokens():
                print(line)
            print(f"Stop with Ctrl+C or `kill {pid}`", flush=True)

    def _spare(self) -> None:
        """Spare what was loaded from garbage collection: a walk over LangGraph alone stops every thread for 70 ms."""
        self.gateway.graphs.load()
        gc.collect()
        gc.freeze()

    def _about_tokens(self) -> list[str]:
        """Say what tokens are still to be made: without one nobody gets in, or not to the chats of the time before."""
        if self.config.auth == "none":
            return []
        opened = {token.owner for token in self.gateway.accounts.listed() if live(token)}
        told = [] if opened else ["There is no token yet: `deerflow-lite token create NAME` makes one"]
        count = self.gateway.threads.count(DEFAULT_OWNER, []) if DEFAULT_OWNER not in opened else 0
        if count:
            chats, them = ("1 chat belongs", "it") if count == 1 else (f"{count} chats belong", "them")
            told.append(f"{chats} to the owner default: `deerflow-lite token create NAME --owner default` opens {them}")
        return told

    def stop(self) -> None:
        """End streams and settle runs within the grace time."""
        self.gateway.stop(self.config.stop_grace)
