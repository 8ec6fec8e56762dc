"""Random conversations against a model of their own: the tree must say what was done, in both checkpoint modes."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.lifecycle.asking import Talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.service import Service

TURNS = 30


@dataclass
class Said:
    """A turn as it was made."""

    run: str
    parent: "Said | None"
    base: str
    human: str
    failed: bool
    end: str = ""
    texts: list[str] = field(default_factory=list)

    def path(self) -> list["Said"]:
        return [*(self.parent.path() if self.parent else []), self]


@dataclass
class Model:
    """What the tests did, in order."""

    talk: Talk
    made: list[Said] = field(default_factory=list)
    at: Said | None = None

    def say(self, parent: Said | None, base: str, text: str, human: str, explicit: bool) -> None:
        failed = text == "!boom"
        run = self.talk.say(text, human, base if explicit else None)
        said = Said(run, parent, base, human, failed, texts=[text] if failed else [text, f"echo: {text}"])
        self.made.append(said)
        if not failed:
            said.end, self.at = self.talk.head(), said

    def expected(self) -> dict[str, dict[str, Any]]:
        path = self.at.path() if self.at else []
        groups: dict[tuple[str | None, str], list[Said]] = {}
        for said in self.made:
            groups.setdefault((said.parent and said.parent.run, said.base), []).append(said)
        return {
            said.run: {
                "parent_turn_id": said.parent and said.parent.run,
                "base_checkpoint_id": said.base,
                "human_message_id": said.human,
                "status": "failed" if said.failed else "done",
                "sibling_index": group.index(said),
                "sibling_count": len(group),
                "on_selected_path": said in path,
                "messages": len(said.texts),
            }
            for group in groups.values()
            for said in group
        }


def step(model: Model, chance: random.Random, number: int) -> None:
    """Do one thing that a person may do."""
    good = [said for said in model.made if not said.failed]
    act = chance.choice(("go on", "go on", "edit", "again", "fail", "select"))
    if act == "go on" or not good:
        model.say(model.at, model.at.end if model.at else model.talk.root, f"m{number}", f"h{number}", False)
    elif act == "select":
        model.at = chance.choice(good)
        model.talk.select(model.at.end)
    else:
        old = chance.choice(good)
        text, human = {
            "edit": (f"e{number}", f"h{number}"), "again": (old.texts[0], old.human), "fail": ("!boom", f"h{number}"),
        }[act]  # fmt: skip
        if act == "fail" and old.base == (model.at.end if model.at else model.talk.root):
            return
        model.say(old.parent, old.base, text, human, True)


@pytest.mark.parametrize("mode", ["full", "delta"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_of_thirty_turns_says_what_was_done(serve: Callable[..., Service], mode: str, seed: int) -> None:
    chance = random.Random(seed)
    model = Model(Talk(serve(graphs=GRAPHS), mode))
    number = 0
    while len(model.made) < TURNS:
        step(model, chance, number)
        number += 1
    found = model.talk.tree()
    assert found["broken"] == []
    shown = {
        turn["turn_id"]: {name: turn[name] for name in turn if name in next(iter(model.expected().values()))}
        | {"messages": len(turn["message_ids"])}
        for turn in found["turns"]
    }
    assert shown == model.expected(), f"seed {seed}"
    ids = [turn["turn_id"] for turn in found["turns"]]
    for turn in found["turns"]:
        assert turn["parent_turn_id"] is None or ids.index(turn["parent_turn_id"]) < ids.index(turn["turn_id"])
    for said in model.made:
        if not said.failed:
            model.talk.select(said.end)
            assert model.talk.shown() == [text for one in said.path() for text in one.texts], f"seed {seed}"
