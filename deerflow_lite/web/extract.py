"""The `extract` of a search: paths into a thread's config, interrupts, metadata and values; it reads no store.

A path is a root, then `.name` and `[index]` steps; what it does not lead to is null, never an error.
"""

import re
from collections.abc import Mapping
from typing import Any

ROOTS = ("config", "interrupts", "metadata", "values")
MOST = 10
LONGEST = 256
REASON = f"must be a path that starts with one of {', '.join(ROOTS)}"
Steps = tuple[str | int, ...]
Extract = dict[str, Steps]
_STEP = re.compile(r"\.([^.\[\]]+)|\[(-?[0-9]{1,9})\]")


def read_extract(paths: Mapping[str, Any]) -> Extract:
    """Read `{alias: path}`; raises ValueError with {alias: [reason]}."""
    if len(paths) > MOST:
        raise ValueError([f"must not have more than {MOST} aliases"])
    read = {alias: _steps(path) if isinstance(path, str) else None for alias, path in paths.items()}
    if bad := {alias: [REASON] for alias, steps in read.items() if steps is None}:
        raise ValueError(bad)
    return {alias: steps for alias, steps in read.items() if steps}


def _steps(path: str) -> Steps | None:
    root = re.match(r"[a-z]+", path)
    if root is None or root[0] not in ROOTS or len(path) > LONGEST:
        return None
    steps: list[str | int] = [root[0]]
    place = root.end()
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None:
            return None
        steps.append(int(step[2]) if step[1] is None else step[1])
        place = step.end()
    return tuple(steps)


def follow(steps: Steps, value: Any) -> Any:
    """Give what the steps lead to, None where they lead nowhere."""
    for step in steps:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value
