"""One thread that does the rounds of the service: each sweep in turn, again and again; it knows none of them.

A sweep that fails is logged and tried again on the next round.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Final

from deerflow_lite.errors import DeerflowError

SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


class Ticker:
    """Calls its sweeps every few seconds between `start` and `stop`."""

    def __init__(self, sweeps: Sequence[Callable[[], None]]) -> None:
        self._sweeps = sweeps
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="ticker", daemon=True)

    def start(self) -> None:
        """Begin the rounds, once."""
        if self._thread.ident is None:
            self._thread.start()

    def stop(self) -> None:
        """End the rounds; a sweep that is under way comes to its end."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _work(self) -> None:
        while not self._stopping.wait(SECONDS):
            self.round()

    def round(self) -> None:
        """Call each sweep once."""
        for sweep in self._sweeps:
            try:
                sweep()
            except (DeerflowError, sqlite3.Error):
                _log.warning("a sweep failed, it is tried again", exc_info=True)
