"""Holds the house to its plan: floors, fences, sizes, names; it runs nothing of the service but one import.

Each rule reads one file's source and gives its complaints; each is shown to find what it forbids.
"""

import ast
import io
import os
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = (
    ("__main__",), ("cli",), ("server",), ("__init__",), ("web",), ("gateway",), ("transfer", "upkeep"), ("lifecycle",),
    ("schedules",), ("runs",), ("search", "files"), ("threads", "checkpoints", "graphs", "accounts", "items"),
    ("journal",), ("db",), ("config", "clock"), ("errors",),
)  # fmt: skip
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FENCES = {
    "flask": {"web", "__init__"},
    "werkzeug": {"web"},
    "marshmallow": {"web"},
    "apispec": {"web"},
    "sqlite_utils": {"db"},
    "langgraph": {"checkpoints", "graphs", "items"},  # items are kept by LangGraph's own store
    "langchain": {"checkpoints", "graphs"},
    "langchain_core": {"checkpoints", "graphs"},
    "click": {"cli"},
    "prometheus_client": {"web"},
    "granian": {"server"},
    "cheroot": {"server"},
}
FILE_LINES, FUNCTION_LINES, COMMENT_LINES = 250, 40, 4
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "services", "manager", "managers", "deps"}
TOP_LEVEL = {"deerflow_lite", "tests", "instance", "setup.cfg", "README.md", "Makefile", "pyproject.toml"}
BROAD_CATCHES = {
    "deerflow_lite/checkpoints/mutation.py",  # a user's reducers run in it
    "deerflow_lite/checkpoints/state.py",  # here too
    "deerflow_lite/runs/execution.py",
    "deerflow_lite/schedules/ticker.py",
    "deerflow_lite/web/errors.py",
}
STATUS_CODES = {200, 201, 202, 204, 206, 301, 302, 303, 304, *range(400, 418), 422, 423, 429, *range(500, 505)}
PUT_OFF = ("TODO", "FIXME", "XXX", "HACK")


def room_of(name: str) -> str:
    """Give the room of a file or module below `deerflow_lite/`."""
    return name.split("/")[1].removesuffix(".py")


def imported(tree: ast.Module) -> Iterator[str]:
    """Give every module that the source imports, wherever it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "deerflow_lite":
            yield from (f"deerflow_lite.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def imports_that_climb(name: str, source: str) -> list[str]:
    here, complaints = room_of(name), []
    for module in imported(ast.parse(source)):
        if module.startswith("."):
            complaints.append(f"{module} is relative")
        if module.partition(".")[0] != "deerflow_lite":
            continue
        there = room_of((module + ".__init__").replace(".", "/"))
        there = there if there in FLOOR else "__init__"
        if there != here and FLOOR[there] <= FLOOR[here]:
            complaints.append(f"{here} imports {there}")
    return complaints


def libraries_over_the_fence(name: str, source: str) -> list[str]:
    roots = {module.partition(".")[0] for module in imported(ast.parse(source))}
    return sorted(root for root in roots if room_of(name) not in FENCES.get(root, {room_of(name)}))


def long_file(name: str, source: str) -> list[str]:
    lines = len(source.splitlines())
    return [f"{lines} lines"] if lines > FILE_LINES else []


def long_functions(name: str, source: str) -> list[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [each for each in ast.walk(ast.parse(source)) if isinstance(each, kinds)]
    return [each.name for each in functions if (each.end_lineno or 0) - each.lineno + 1 > FUNCTION_LINES]


def comments(source: str) -> dict[int, str]:
    """Give the comments that stand alone on their line, by line number."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT and not t.line[: t.start[1]].strip()}


def long_comments(name: str, source: str) -> list[str]:
    lines = comments(source)
    return [f"line {line}" for line in lines if all(line + more in lines for more in range(COMMENT_LINES + 1))]


def work_put_off(name: str, source: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT and any(word in t.string for word in PUT_OFF)]


def missing_docstring(name: str, source: str) -> list[str]:
    return [] if ast.get_docstring(ast.parse(source)) else ["no module docstring"]


def empty_names(name: str, source: str) -> list[str]:
    return [part for part in name.removesuffix(".py").split("/") if part in EMPTY_NAMES]


def broad_catches(name: str, source: str) -> list[str]:
    handlers = (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.ExceptHandler))
    broad = [each for each in handlers if each.type is None or ast.unparse(each.type) == "Exception"]
    return [f"line {each.lineno}" for each in broad if name not in BROAD_CATCHES]


def logged_errors(name: str, source: str) -> list[str]:
    """The text of an error may hold what a user wrote: its class is told, or `exc_info`, which the log cuts."""
    nodes = [*ast.walk(ast.parse(source))]
    caught = {each.name for each in nodes if isinstance(each, ast.ExceptHandler)}
    calls = [each for each in nodes if isinstance(each, ast.Call) and ast.unparse(each.func).startswith("_log.")]
    told = [arg for each in calls for arg in each.args if not ast.unparse(arg).startswith("type(")]
    names = [name for arg in told for name in ast.walk(arg) if isinstance(name, ast.Name)]
    return [f"line {name.lineno}" for name in names if name.id in caught]


def status_codes(name: str, source: str) -> list[str]:
    complaints: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            complaints += [side for side in (node.left, *node.comparators) if is_status_code(side)]
        elif isinstance(node, ast.Name) and node.id in {"HTTPStatus", "abort"}:
            complaints.append(node)
        elif isinstance(node, ast.keyword) and node.arg in {"status", "status_code"}:
            complaints += [node.value] if is_status_code(node.value) else []
    return [] if room_of(name) == "web" else [f"line {each.lineno}: {ast.unparse(each)}" for each in complaints]


def is_status_code(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in STATUS_CODES


Rule = Callable[[str, str], list[str]]
EVERYWHERE: tuple[Rule, ...] = (long_file, long_comments, work_put_off, missing_docstring, empty_names)
IN_THE_HOUSE: tuple[Rule, ...] = (
    imports_that_climb, libraries_over_the_fence, long_functions, broad_catches, logged_errors, status_codes,
)  # fmt: skip
FORBIDDEN: list[tuple[Rule, str, str]] = [
    (imports_that_climb, "deerflow_lite/db.py", "import deerflow_lite.journal"),
    (imports_that_climb, "deerflow_lite/threads/sqlite.py", "from deerflow_lite.checkpoints import root"),
    (imports_that_climb, "deerflow_lite/gateway.py", "def f():\n    from deerflow_lite import create_app"),
    (imports_that_climb, "deerflow_lite/web/app.py", "from deerflow_lite.server import serve"),
    (imports_that_climb, "deerflow_lite/web/app.py", "from . import threads"),
    (libraries_over_the_fence, "deerflow_lite/runs/seat.py", "from flask.json import dumps"),
    (libraries_over_the_fence, "deerflow_lite/web/app.py", "import langgraph.graph"),
    (libraries_over_the_fence, "deerflow_lite/threads/sqlite.py", "import sqlite_utils"),
    (long_file, "tests/test_db.py", "\n" * 251),
    (long_functions, "deerflow_lite/db.py", "def f():\n" + "    1\n" * 40),
    (long_comments, "deerflow_lite/db.py", "# why\n" * 5),
    (work_put_off, "deerflow_lite/db.py", "a = 1  # TO" + "DO: later"),
    (missing_docstring, "tests/test_db.py", "a = 1"),
    (empty_names, "deerflow_lite/web/utils.py", ""),
    (empty_names, "deerflow_lite/services/start.py", ""),
    (broad_catches, "deerflow_lite/db.py", "try:\n    f()\nexcept Exception:\n    pass"),
    (broad_catches, "deerflow_lite/db.py", "try:\n    f()\nexcept:\n    pass"),
    (logged_errors, "deerflow_lite/db.py", "try:\n    f()\nexcept OSError as e:\n    _log.info('no: %s', e)"),
    (logged_errors, "deerflow_lite/db.py", "try:\n    f()\nexcept OSError as e:\n    _log.info(f'no: {e}')"),
    (status_codes, "deerflow_lite/runs/seat.py", "if code == 404:\n    pass"),
    (status_codes, "deerflow_lite/runs/seat.py", "abort(3)"),
    (status_codes, "deerflow_lite/errors.py", "answer(status=409)"),
]
ALLOWED: list[tuple[Rule, str, str]] = [
    (imports_that_climb, "deerflow_lite/cli/threads.py", "from deerflow_lite.cli import output"),
    (imports_that_climb, "deerflow_lite/server/a.py", "from deerflow_lite import create_app\nimport deerflow_lite.db"),
    (libraries_over_the_fence, "deerflow_lite/graphs/loader.py", "import langgraph, json"),
    (long_functions, "deerflow_lite/db.py", "def f():\n" + "    1\n" * 39),
    (long_comments, "deerflow_lite/db.py", "# why\n" * 4),
    (broad_catches, "deerflow_lite/runs/execution.py", "try:\n    f()\nexcept Exception:\n    pass"),
    (logged_errors, "deerflow_lite/db.py", "try:\n    f()\nexcept A as e:\n    _log.info('%s', type(e).__name__)"),
    (status_codes, "deerflow_lite/web/errors.py", "if code == 404:\n    pass"),
]


def files(*folders: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.py"))


def complaints(rule: Rule, *folders: str) -> dict[str, object]:
    """Give what a rule finds, by the file's name."""
    found = {name: rule(name, (ROOT / name).read_text(encoding="utf-8")) for name in files(*folders)}
    return {name: told for name, told in found.items() if told}


@pytest.mark.parametrize("rule", IN_THE_HOUSE, ids=lambda rule: rule.__name__)
def test_no_file_of_the_house_has(rule: Rule) -> None:
    assert complaints(rule, "deerflow_lite") == {}


@pytest.mark.parametrize("rule", EVERYWHERE, ids=lambda rule: rule.__name__)
def test_no_file_has(rule: Rule) -> None:
    assert complaints(rule, "deerflow_lite", "tests") == {}


@pytest.mark.parametrize(("rule", "name", "source"), FORBIDDEN)
def test_a_rule_finds_what_it_forbids(rule: Rule, name: str, source: str) -> None:
    assert rule(name, source) != []


@pytest.mark.parametrize(("rule", "name", "source"), ALLOWED)
def test_a_rule_leaves_alone_what_is_allowed(rule: Rule, name: str, source: str) -> None:
    assert rule(name, source) == []


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(name) for name in files("deerflow_lite")}
    assert rooms - FLOOR.keys() == set()


def test_the_top_of_the_repository_holds_only_what_was_planned() -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.startswith(".")} - TOP_LEVEL == set()


def test_opening_the_service_imports_nothing_of_langgraph_or_langchain(tmp_path: Path) -> None:
    program = (
        "import sys; import deerflow_lite.cli, deerflow_lite.server; from deerflow_lite import create_app;"
        "answer = create_app().test_client().post('/api/threads', json={}); assert answer.status_code == 200;"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'langgraph', 'langchain', 'langchain_core'}))"
    )
    environ = os.environ | {"DEERFLOW_LITE_INSTANCE": str(tmp_path)}
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True, text=True)
    assert told.stdout == "[]\n"
