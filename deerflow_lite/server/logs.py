"""How the service logs: one JSON object a line on stderr; it logs nothing itself.

Invariant: below the level `debug` no text of an exception is told, only its class, SQLite's name for it and where it
was raised: such texts hold what users wrote.
"""

import logging
import traceback
from datetime import UTC, datetime

import orjson


class JsonLines(logging.Formatter):
    """Gives a record as one line; `fields` of a record stand beside its message. `whole` tells exceptions with text."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            told |= self._exception(record.exc_info[1])
        return orjson.dumps(told, default=str).decode()

    def _exception(self, error: BaseException) -> dict[str, object]:
        if self._whole:
            return {"exception": "".join(traceback.format_exception(error))}
        frames = traceback.extract_tb(error.__traceback__)
        name = getattr(error, "sqlite_errorname", None)
        raised = [f"{one.filename}:{one.lineno}" for one in frames]
        return {"exception": type(error).__name__, "raised": raised} | ({} if name is None else {"sqlite": name})


def log_to_stderr(level: str) -> None:
    """Tell records of this level and above on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines(whole=level == "debug"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
