"""Imports what a source names; it decides nothing about what the attribute is.

A file keeps the name its project imports it by: checkpoints store a value's class as module and name and must find it
again after a restart. A file outside the project's folders, or one whose name is taken, gets a name of ours.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from deerflow_lite.graphs.sources import Source, Sources


def prepare(sources: Sources) -> None:
    """Put the folders of the sources behind those Python already searches, and set what the environment lacks.

    Behind, so that a file of the user never stands in for a library that the service imports later.
    """
    sys.path.extend(str(folder) for folder in sources.folders if str(folder) not in sys.path)
    for name, value in sources.environment.items():
        os.environ.setdefault(name, value)
    importlib.invalidate_caches()


def attribute_of(source: Source, folders: Iterable[Path]) -> Any:
    """Import the module of a source and give its attribute; raises whatever the module raises."""
    module = importlib.import_module(source.place) if isinstance(source.place, str) else _file(source.place, folders)
    return getattr(module, source.attribute)


def _file(path: Path, folders: Iterable[Path]) -> ModuleType:
    if not path.is_file():
        raise ImportError(f"the file {path.name} does not exist")
    for folder in folders:
        name = _dotted(path, folder)
        if name and _found(name) == path:
            return importlib.import_module(name)
    return _alone(path)


def _dotted(path: Path, folder: Path) -> str | None:
    if not path.is_relative_to(folder):
        return None
    parts = path.relative_to(folder).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else None


def _found(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        # A parent that is no package: something else has this name, the file is imported alone.
        return None
    return Path(spec.origin).resolve() if spec and spec.origin else None


def _alone(path: Path) -> ModuleType:
    names = (f"deerflow_graph_{path.stem}" + (f"_{number}" if number else "") for number in count())
    name = next(name for name in names if name not in sys.modules or sys.modules[name].__file__ == str(path))
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    with ExitStack() as undo:
        undo.callback(sys.modules.pop, name, None)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        undo.pop_all()
    return module
