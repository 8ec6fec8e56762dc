"""The newest JavaScript client of LangGraph: each of its methods is used, or README says how it is refused."""

import re
import subprocess

from tests.clients.conftest import HERE, SECONDS, Script
from tests.clients.test_hook import VERSIONS
from tests.clients.test_python import README, REFUSED
from tests.processes import Served


def camel(name: str) -> str:
    """Give the JavaScript name of a Python method."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def test_each_method_does_what_its_caller_expects_or_is_refused_as_readme_says(script: Script) -> None:
    told = script("client.mjs", VERSIONS[-1])
    assert {name: reason for name, reason in told["used"].items() if reason != "ok"} == {}
    listed = {camel(name): status for name, status in REFUSED.items()}
    assert told["refused"] == listed | {"threads.patchState": 405}
    assert sorted(told["methods"]) == sorted([*told["used"], *told["refused"]])


def test_the_example_in_readme_runs_as_it_stands(node: str, served: Served) -> None:
    [example] = re.findall(r"```js\n(.*?)```", README, re.DOTALL)
    program = example.replace("@langchain/langgraph-sdk", f"sdk-{VERSIONS[-1]}").replace(
        "http://127.0.0.1:2026", served.url
    )
    command = [node, "--input-type=module", "--eval", program]
    told = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=SECONDS)
    assert (told.returncode, told.stderr) == (0, "")
    assert "42" in told.stdout
