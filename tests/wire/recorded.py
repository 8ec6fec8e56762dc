"""Recorded exchanges, replayed: requests get the ids of our service, answers are held against the recorded ones.

An id in angle brackets stands for one of our own from where it is first seen on; the same name must mean the same id.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, UUID, uuid4, uuid5

from deerflow_lite.graphs.model import assistant_id_of

RECORDINGS = Path(__file__).parent / "recordings"
NAME = re.compile(r"<[a-z]+(?::\w+)?>")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
WORDS = {"<missing>": str(UUID(int=0)), "<mark>": "mark", "<ns>": "ns"}
Json = Any


@dataclass(frozen=True)
class Exchange:
    """One request and what LangGraph's server answered."""

    step: str
    request: dict[str, Any]
    response: dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """One thing that differs; `where` is a path into the answer, lists as `[]`."""

    step: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.step} {self.where}: {self.what}"


def recordings(folder: str) -> list[Exchange]:
    """Give the exchanges of a folder in their order."""
    lines = (RECORDINGS / f"{folder}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Exchange(**json.loads(line)) for line in lines]


@dataclass
class Names:
    """What the names in brackets stand for."""

    known: dict[str, str] = field(default_factory=lambda: dict(WORDS))

    def __contains__(self, name: str) -> bool:
        return name in self.known

    def ours(self, name: str) -> str:
        """Give our id for a name; one never seen before is an id that is not here."""
        kind, _, rest = name.strip("<>").partition(":")
        if name not in self.known:
            made = assistant_id_of(rest) if kind == "assistant" else str(uuid4())
            self.known[name] = "".join(["1f000000-0000-6000-8000-", made[-12:]]) if kind == "ckpt" else made
        return self.known[name]

    def filled(self, given: Json) -> Json:
        """Give a part of a request with our ids in it."""
        if isinstance(given, str):
            text = re.sub(r"<UPPER (<[^>]+>)>", lambda found: self.ours(found[1]).upper(), given)
            return NAME.sub(lambda found: self.ours(found[0]), text)
        if isinstance(given, dict):
            return {self.filled(key): self.filled(value) for key, value in given.items()}
        return [self.filled(one) for one in given] if isinstance(given, list) else given

    def same(self, name: str, given: str) -> bool:
        """Say whether an id of ours is the one that a name stands for."""
        if name == "<ts>":
            return TIME.fullmatch(given) is not None
        if name.startswith("<assistant:"):
            self.ours(name)
        return self.known.setdefault(name, given) == given

    def match(self, told: str, given: str) -> bool:
        """Say whether a text is the recorded one; what its names stand for is learned from it."""
        parts = NAME.findall(told)
        pattern = re.escape(NAME.sub("\0", told)).replace(re.escape("\0"), "([A-Za-z0-9:+._-]+?)")
        found = re.fullmatch(pattern, given, re.DOTALL)
        return found is not None and all(self.same(*pair) for pair in zip(parts, found.groups(), strict=True))


def differing(names: Names, told: Json, ours: Json, where: str = "") -> Iterator[tuple[str, str]]:
    """Give (path, what) of all that differs between a recorded answer and ours."""
    if isinstance(told, dict) and isinstance(ours, dict):
        for name, value in told.items():
            if NAME.fullmatch(name) and len(told) == len(ours) == 1:
                names.same(name, next(iter(ours)))
            key = names.filled(name)
            if key not in ours:
                yield f"{where}.{key}", "is missing"
            else:
                yield from differing(names, value, ours[key], f"{where}.{key}")
        yield from ((f"{where}.{key}", "is ours alone") for key in ours if key not in map(names.filled, told))
    elif isinstance(told, list) and isinstance(ours, list):
        if len(told) != len(ours):
            yield where, f"has {len(ours)} entries, not {len(told)}"
        for one, other in zip(told, ours, strict=False):
            yield from differing(names, one, other, f"{where}[]")
    elif isinstance(told, str) and isinstance(ours, str):
        if not names.match(told, ours):
            yield where, f"is {ours[:80]}, not {told[:80]} (which is {names.filled(told)[:80]})"
    elif type(told) is not type(ours):
        yield where, f"is {json.dumps(ours)[:80]}, not {json.dumps(told)[:80]}"
    elif told != ours:
        yield where, f"is {json.dumps(ours)[:80]}, not {json.dumps(told)[:80]}"


def stable_id(word: str) -> str:
    """Give an id that is the same at every run."""
    return str(uuid5(NAMESPACE_DNS, word))
