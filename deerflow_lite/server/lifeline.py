"""What ties the processes of one service together: the lock on the folder and the line between parent and worker.

It starts and serves nothing. Invariants: at most one process holds the lock of a folder, and the system takes it back
when that process ends, however it ends; a worker hears STOP, or that its parent is gone, and never mistakes one for
the other.
"""

import fcntl
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NoReturn

from deerflow_lite.errors import DeerflowError, SettingInvalid

PATIENCE = 1.0
LAST_REQUESTS = 3.0


class CannotServe(DeerflowError):
    """The service cannot start here: the folder, the port or the file refuses."""


class FolderLock:
    """The right to serve one data folder; the file says where it is served."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / "serve.lock").open("a+", encoding="utf-8")
        except OSError as error:
            raise CannotServe(f"{folder} cannot be used as data folder: {error.strerror}") from None

    def take(self, note: str = "") -> None:
        """Hold the lock until the process ends; raises CannotServe when another process keeps it.

        A process that was killed a moment ago gets PATIENCE seconds to be gone.
        """
        deadline = time.monotonic() + PATIENCE
        while not self._taken():
            if time.monotonic() > deadline:
                raise CannotServe(f"{self._folder} is already served{self._where()}")
            time.sleep(0.02)
        if note:
            self._file.truncate(0)
            self._file.write(note)
            self._file.flush()

    def give_back(self) -> None:
        """Let another process take the lock."""
        self._file.close()

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _where(self) -> str:
        self._file.seek(0)
        note = self._file.read().strip()
        return f" at {note}" if note else " by another process"


class Heard(Enum):
    """What a worker learns from its lifeline."""

    STOP = "stop"
    BROKEN = "broken"


class Lifeline:
    """A line between the parent and its worker that breaks by itself when the parent is gone."""

    def __init__(self) -> None:
        self._parent: socket.socket | None
        self._parent, self._worker = socket.socketpair()

    def __getstate__(self) -> dict[str, socket.socket | None]:
        return {"_parent": None, "_worker": self._worker}

    def say_stop(self) -> None:
        """Tell the worker to stop in good order; a worker that is gone is no error."""
        if self._parent is not None:
            with suppress(OSError):
                self._parent.sendall(Heard.STOP.value.encode())

    def let_go(self) -> None:
        """Give up the parent's end: a worker that was not told to stop leaves at once."""
        if self._parent is not None:
            self._parent.close()
            self._parent = None

    def complaint(self) -> DeerflowError:
        """Give what the worker complained of before it left, in the parent."""
        kind, sentence = "", ""
        with suppress(OSError):
            if self._parent is not None:
                kind, _, sentence = self._parent.recv(4096, socket.MSG_DONTWAIT).decode(errors="replace").partition(" ")
        if kind == SettingInvalid.__name__:
            return SettingInvalid(sentence)
        return CannotServe(sentence or "the process that serves ended by itself")

    def hold(self) -> None:
        """Begin to follow the line, in the worker's main thread.

        The worker's copy of the parent's end would keep the line alive. A signal sent to the worker alone must be
        heard too: the server would only stop to listen, and wait for streams that never end.
        """
        self.let_go()
        self._signalled, told = socket.socketpair()
        told.setblocking(False)
        signal.set_wakeup_fd(told.detach(), warn_on_full_buffer=False)

    def complain(self, error: Exception) -> None:
        """Tell the parent why the worker leaves."""
        with suppress(OSError):
            self._worker.sendall(f"{type(error).__name__} {error}".encode())

    def heard(self, seconds: float) -> Heard | None:
        """Wait for what the parent says, in the worker; None when nothing was said in that time."""
        readable, _, _ = select.select([self._worker, self._signalled], [], [], seconds)
        if not readable:
            return None
        if self._worker not in readable:
            return Heard.STOP
        with suppress(OSError):
            return Heard.STOP if self._worker.recv(len(Heard.STOP.value)) else Heard.BROKEN
        return Heard.BROKEN


def on_signals(stop: Callable[..., None]) -> None:
    """Call `stop` on SIGTERM and on SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def leave(code: int) -> NoReturn:
    """End this process now; interpreter exit would wait for nodes that still run in threads."""
    os._exit(code)
