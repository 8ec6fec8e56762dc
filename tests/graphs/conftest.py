"""A user's project with a graph of every kind, working and broken."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deerflow_lite.config import Config
from deerflow_lite.graphs.loader import Graphs

KINDS = """
import asyncio
import contextlib
import threading

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from helper import WORD

calls = []


def build(name):
    return StateGraph(MessagesState).add_node("one", lambda state: {}).add_edge(START, "one")


compiled = build("compiled").compile(name="compiled-" + WORD)
builder = build("builder")


def plain():
    return build("plain")


def configured(config: RunnableConfig):
    calls.append(config["configurable"].get("who"))
    return build("configured").compile(name=f"for-{config['configurable'].get('who')}")


def optional(*, config=None):
    return build("optional").compile(name=f"for-{config['configurable'].get('who')}")


def inner_loop():
    asyncio.run(asyncio.sleep(0))
    return build("inner_loop").compile()


async def later(settings):
    await asyncio.sleep(0)
    return build("later").compile(name=f"later-{settings['configurable'].get('who')}")


@contextlib.contextmanager
def held():
    calls.append("enter")
    thread = threading.get_ident()
    yield build("held").compile(name="held")
    calls.append("exit" if thread == threading.get_ident() else "exit elsewhere")


@contextlib.asynccontextmanager
async def aheld(config):
    loop = asyncio.get_running_loop()
    calls.append("aenter")
    yield build("aheld").compile(name="aheld")
    calls.append("aexit" if loop is asyncio.get_running_loop() else "aexit elsewhere")


def wrong():
    return 5


def failing():
    raise KeyError("two\\nlines")


def demanding(config, runtime):
    return None


number = 5
"""
NAMES = (
    "compiled builder plain configured optional inner_loop later held aheld wrong failing demanding number absent"
).split()


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's project; what loading puts into the process is taken out again."""
    folder = tmp_path_factory.mktemp("project")
    path, modules = list(sys.path), set(sys.modules)
    (folder / "kinds.py").write_text(KINDS)
    (folder / "helper.py").write_text("WORD = 'word'\n")
    (folder / "broken.py").write_text("import no_such_module\n")
    (folder / "syntax.py").write_text("def f(:\n")
    (folder / "leaving.py").write_text("import sys\nsys.exit('bye')\n")
    graphs = {name: f"./kinds.py:{name}" for name in NAMES}
    graphs |= {name: f"./{name}.py:graph" for name in ("broken", "syntax", "leaving", "missing")}
    (folder / "langgraph.json").write_text(json.dumps({"graphs": graphs, "dependencies": ["."]}))
    yield folder
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and str(folder) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.fixture(scope="package")
def graphs(project: Path) -> Graphs:
    graphs = Graphs(Config(graphs=str(project / "langgraph.json")))
    graphs.load()
    return graphs


@pytest.fixture
def kinds() -> list[str]:
    """The names of the graphs in the project's one working file, in order."""
    return NAMES
