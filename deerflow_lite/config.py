"""Every setting once: name, default, how it is read and one sentence; it opens nothing.

`DEERFLOW_LITE_<NAME>` in the environment goes over `<name>` in `instance/config.toml` goes over the default.
An unknown or bad setting raises SettingInvalid with its name: the service does not start on a guess.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deerflow_lite.errors import SettingInvalid

PREFIX = "DEERFLOW_LITE_"
Names = tuple[str, ...]


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.strip().lstrip("-").isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return read


def _choice(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return read


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _setting(default: Any, read: Callable[[str], Any], about: str) -> Any:
    return dataclasses.field(default=default, metadata={"read": read, "about": about})


@dataclass(frozen=True)
class Config:
    """The settings of one service; attributes are the lower-case names."""

    host: str = _setting("127.0.0.1", str, "address that `serve` listens on")
    port: int = _setting(2026, _whole(0, 65535), "port that `serve` listens on; 0 is any free one")
    instance: Path = _setting(Path("instance"), Path, "data folder")
    store: str = _setting(
        "sqlite", _choice("sqlite", "memory"), "where threads are kept; `memory` ends with the process"
    )
    synchronous: str = _setting(
        "full", _choice("full", "normal"), "SQLite's synchronous mode; `full` survives power loss"
    )
    server: str = _setting("granian", _choice("granian", "cheroot"), "the HTTP server")
    graphs: str = _setting("", str, "a langgraph.json, or name=module:attribute[,...]; the embedded agent comes after")
    model: str = _setting("offline", str, "the embedded agent's model, `provider:name`")
    checkpoint_mode: str = _setting("full", _choice("full", "delta"), "how the embedded agent stores its messages")
    snapshot_frequency: int = _setting(10, _whole(1, 100_000), "updates between two snapshots in delta mode")
    lineage_depth: int = _setting(10_000, _whole(1, 1_000_000), "steps of a parent walk before it fails closed")
    allowed_types: Names = _setting((), _names, "`module:Class` names checkpoints may hold besides the graph's own")
    auth: str = _setting(
        "none", _choice("none", "tokens"), "who may call: `none` is one owner, on loopback only; `tokens`, who has one"
    )
    allowed_hosts: Names = _setting((), _names, "Host names that are ours besides the loopback names and HOST")
    cors_origins: Names = _setting((), _names, "Origins of other sites that may call and write")
    run_concurrency: int = _setting(8, _whole(1, 256), "runs that execute at the same time")
    run_queue: int = _setting(100, _whole(0, 100_000), "runs that may wait; one more is 503")
    run_timeout: int = _setting(0, _whole(0, 604_800), "seconds until a run is stopped as `timeout`; 0 is never")
    recursion_limit: int = _setting(100, _whole(1, 1000), "steps of a run when the caller names none; at most 1000")
    streams_max: int = _setting(448, _whole(1, 448), "open streams and calls that wait for a run; one more is 503")
    event_keep: int = _setting(86_400, _whole(0, 315_360_000), "seconds that a run's events are kept after its end")
    prune_after: int = _setting(
        0, _whole(0, 1_000_000), "checkpoints of a thread after which it is pruned by itself; 0 is never"
    )
    log_level: str = _setting("info", _choice("debug", "info", "warning", "error"), "what the log tells")
    max_body: int = _setting(16_777_216, _whole(1024, 1_073_741_824), "bytes of a JSON request")
    stop_grace: int = _setting(5, _whole(0, 600), "seconds that runs get to settle on SIGTERM")

    @property
    def database(self) -> Path:
        """The one SQLite file of this service."""
        return self.instance / ("memory.sqlite" if self.store == "memory" else "deerflow.sqlite")


SETTINGS: dict[str, dataclasses.Field[Any]] = {field.name: field for field in dataclasses.fields(Config)}


def load_config(environ: Mapping[str, str], **given: Any) -> Config:
    """Read the settings; `given` (typed values, None = not given) goes over everything.

    Raises SettingInvalid naming the setting and where it was read.
    """
    from_environment = {name[len(PREFIX) :].lower(): text for name, text in environ.items() if name.startswith(PREFIX)}
    chosen = {name: value for name, value in given.items() if value is not None}
    values = _read(from_environment, PREFIX + "{}") | chosen
    instance = Path(values.get("instance", Config.instance))
    values = _read(_file(instance / "config.toml"), "config.toml: {}") | values | {"instance": instance}
    return Config(**values)


def _file(path: Path) -> dict[str, str]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{path.name} is not valid TOML: {error}") from None
    return {name: ",".join(map(str, value)) if isinstance(value, list) else str(value) for name, value in table.items()}


def _read(texts: Mapping[str, str], label: str) -> dict[str, Any]:
    values = {}
    for name, text in texts.items():
        shown = label.format(name if "toml" in label else name.upper())
        if name not in SETTINGS:
            raise SettingInvalid(f"{shown} is not a setting")
        try:
            values[name] = SETTINGS[name].metadata["read"](text)
        except ValueError as error:
            raise SettingInvalid(f"{shown} {error}, not {text!r}") from None
    return values
