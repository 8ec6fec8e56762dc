"""The React hook of LangGraph, unmodified, as pages lock it and the newest; `scenarios.mjs` says what people do."""

import re

import pytest

from tests.clients.conftest import HERE, Script

VERSIONS = ("1.0.3", "1.6.0", "1.8.10", "1.15.0")
SCENARIOS = re.findall(r"^export async function (\w+)", (HERE / "scenarios.mjs").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize(("version", "graph"), [*((one, "talk") for one in VERSIONS), ("1.15.0", "talk_delta")])
def test_a_page_with_this_hook_does_what_people_do_with_it(script: Script, version: str, graph: str) -> None:
    told = script("hook.mjs", version, graph)
    assert {name: reason for name, reason in told.items() if reason != "ok"} == {}
    assert sorted(told) == sorted(SCENARIOS)


def test_the_scenarios_are_those_that_pages_need() -> None:
    words = " ".join(SCENARIOS)
    needed = ("first", "second", "edit", "another_answer", "branches", "interrupt", "stop", "socket", "history")
    assert [word for word in needed if word not in words] == []
