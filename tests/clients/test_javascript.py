"""The newest JavaScript client of LangGraph: each of its methods is used, or README says how it is refused."""

from tests.clients.conftest import Script
from tests.clients.test_hook import VERSIONS
from tests.clients.test_python import REFUSED


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
