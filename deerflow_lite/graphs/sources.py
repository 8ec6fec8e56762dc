"""Where graphs come from: the GRAPHS setting read into names and targets; it imports none of them.

A mistake in the setting or in langgraph.json raises SettingInvalid here; a broken module shows when it is loaded.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deerflow_lite.errors import SettingInvalid

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ENV_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")


@dataclass(frozen=True)
class Source:
    """A graph's name and the attribute that makes it, in a file or in an importable module."""

    name: str
    place: Path | str
    attribute: str


@dataclass(frozen=True)
class Sources:
    """All graphs of the setting in its order, the folders they import from, and their environment."""

    graphs: tuple[Source, ...] = ()
    folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def read_sources(setting: str) -> Sources:
    """Read the GRAPHS setting: a path to a langgraph.json, or `name=module:attribute[,...]`, or nothing.

    Raises SettingInvalid naming GRAPHS.
    """
    if not setting.strip():
        return Sources()
    path = _file(setting)
    if path is not None:
        return _from_file(path.resolve())
    if "=" not in setting:
        raise _invalid(f"{setting!r} is neither a file nor name=module:attribute")
    return _from_pairs(setting)


def _from_pairs(setting: str) -> Sources:
    graphs: dict[str, Source] = {}
    for pair in filter(None, (part.strip() for part in setting.split(","))):
        name, sign, target = (part.strip() for part in pair.partition("="))
        if not sign:
            raise _invalid(f"{pair!r} is not name=module:attribute")
        if name in graphs:
            raise _invalid(f"the name {name!r} stands twice")
        graphs[name] = _source(name, target, Path.cwd())
    return Sources(tuple(graphs.values()), (Path.cwd(),))


def _file(setting: str) -> Path | None:
    """Give the langgraph.json that the setting names; a text too long for a path is none."""
    path = Path(setting)
    try:
        path = path / "langgraph.json" if path.is_dir() else path
        return path if path.is_file() else None
    except OSError:
        return None


def _from_file(path: Path) -> Sources:
    table = _table(path)
    graphs = table.get("graphs")
    if not isinstance(graphs, dict) or not graphs:
        raise _invalid(f"{path.name} has no graphs")
    folder = path.parent
    return Sources(
        tuple(_source(name, _target(name, entry), folder) for name, entry in graphs.items()),
        tuple(dict.fromkeys([*_folders(table.get("dependencies", []), folder), folder])),
        _environment(table.get("env", {}), folder),
    )


def _table(path: Path) -> dict[str, Any]:
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise _invalid(f"{path.name} cannot be read: {error}") from None
    if not isinstance(table, dict):
        raise _invalid(f"{path.name} is not a JSON object")
    return table


def _target(name: str, entry: Any) -> str:
    target = entry.get("path") if isinstance(entry, dict) else entry
    if not isinstance(target, str):
        raise _invalid(f"the graph {name!r} has no path")
    return target


def _source(name: str, target: str, folder: Path) -> Source:
    if not _NAME.fullmatch(name):
        raise _invalid(f"the name {name!r} may hold only letters, digits, '_', '.' and '-', at most 64")
    place, _, attribute = target.rpartition(":")
    if not place or not attribute.isidentifier():
        raise _invalid(f"the graph {name!r} has the target {target!r}, not module:attribute")
    if place.endswith(".py") or "/" in place:
        return Source(name, (folder / place).resolve(), attribute)
    if not all(part.isidentifier() for part in place.split(".")):
        raise _invalid(f"the graph {name!r} has the target {target!r}, which is no module name")
    return Source(name, place, attribute)


def _folders(dependencies: Any, folder: Path) -> list[Path]:
    if not isinstance(dependencies, list) or not all(isinstance(entry, str) for entry in dependencies):
        raise _invalid("dependencies must be a list of texts")
    # Entries without a leading dot or slash are packages to install, which is not the service's business.
    return [(folder / entry).resolve() for entry in dependencies if entry.startswith((".", "/"))]


def _environment(env: Any, folder: Path) -> dict[str, str]:
    if isinstance(env, dict):
        return {str(name): str(value) for name, value in env.items()}
    if not isinstance(env, str):
        raise _invalid("env must be a path or an object")
    try:
        text = (folder / env).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _invalid(f"env {env!r} cannot be read: {type(error).__name__}") from None
    matches = (_ENV_LINE.fullmatch(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {match[1]: _unquoted(match[2]) for match in matches if match}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return re.split(r"\s+#", value, maxsplit=1)[0]


def _invalid(reason: str) -> SettingInvalid:
    return SettingInvalid(f"GRAPHS: {reason}")
