"""README against the service: what it names exists, what exists it names, and its examples run as they stand."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import click
import pytest

from deerflow_lite import create_app
from deerflow_lite.cli import program
from deerflow_lite.config import SETTINGS, load_config
from tests.processes import DEADLINE, ROOT, Served

README = (ROOT / "README.md").read_text(encoding="utf-8")
PRINTED_URL = "http://127.0.0.1:2026"


def rows(head: str) -> list[list[str]]:
    """Give the cells of the tables that begin with this head cell."""
    tables = re.findall(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", README, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for table in tables for line in table.splitlines()]


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands(command: click.Command, path: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield path
        return
    for name, below in command.commands.items():
        yield from commands(below, f"{path} {name}")


def test_the_table_of_calls_is_what_is_routed(tmp_path: Path) -> None:
    app = create_app(load_config({}, instance=tmp_path))
    app.extensions["deerflow_lite"].close()
    served = set()
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/api/") and not rule.rule.startswith("/api/langgraph/"):
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule.removeprefix("/api"))
            served |= {f"`{method} {path}`" for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    named = [call for call, _ in rows("call")]
    assert sorted(named) == sorted(served)


def test_the_table_of_settings_is_what_is_read() -> None:
    real = []
    for name, field in SETTINGS.items():
        default = "" if field.default in ((), "") else f"`{field.default}`"
        real.append([f"`{name.upper()}`", default, field.metadata["about"]])
    assert [[name, default.strip(), about] for name, default, about in rows("setting")] == real


def test_every_command_is_named_and_every_named_command_exists() -> None:
    named = [" ".join(word for word in row[0].strip("`").split() if not word[0].isupper()) for row in rows("command")]
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    made = {"make" if target == "help" else f"make {target}" for target in targets}
    assert sorted(named) == sorted({*commands(program, "deerflow-lite"), *made})


def test_make_alone_names_every_target() -> None:
    told = subprocess.run(["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    named = [row[0].strip("`") for row in rows("command") if row[0].startswith("`make ")]
    assert [line.partition("\t")[0] for line in told.splitlines()] == ["make help", *named]


def test_every_promise_names_tests_that_exist() -> None:
    named = [name for _, tests in rows("promise") for name in re.findall(r"`([^`]+)`", tests)]
    assert len(named) >= len(rows("promise")) > 0
    assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []


@pytest.mark.parametrize("path", ["/docs", "/"])
def test_the_pages_it_speaks_of_open(tmp_path: Path, path: str) -> None:
    app = create_app(load_config({}, instance=tmp_path))
    assert app.test_client().get(path).status_code == 200
    app.extensions["deerflow_lite"].close()


def run_python(example: str, url: str) -> str:
    program = example.replace(PRINTED_URL, url)
    assert program != example
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE)
    assert told.stderr == ""
    return told.stdout


def test_its_conversation_by_langgraphs_client_outlives_a_restart(tmp_path: Path) -> None:
    talk, find_again = examples("python")
    served = Served(tmp_path / "instance")
    said = run_python(talk, served.url).splitlines()
    assert len(said) == 2
    assert "14" in said[1]
    assert served.end() == 0
    served = Served(tmp_path / "instance")
    found = run_python(find_again, served.url)
    assert served.end() == 0
    assert "human: Hello, my name is Ada.\n" in found
    assert "human: What is 2*(3+4)?\n" in found
    assert found.endswith("in the list: 0\narchived: 1\nin the list: 1\n")


def test_its_curl_commands_are_answered(tmp_path: Path) -> None:
    [block] = [example for example in examples("sh") if "curl" in example]
    served = Served(tmp_path / "instance")
    answers = []
    for line in block.splitlines():
        _, _, url, _, body = shlex.split(line)
        asked = Request(url.replace(PRINTED_URL, served.url), body.encode())
        with urlopen(asked, timeout=DEADLINE) as answer:
            answers.append(answer.read().decode())
    assert served.end() == 0
    assert answers[0].startswith('{"thread_id":"first"')
    assert "42" in answers[1]
    assert answers[2].startswith('[{"thread_id":"first"')
    assert "event: messages" in answers[3]
    assert "event: end" in answers[3]
