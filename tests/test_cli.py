"""Every command of the command line, as a process and beside a running service; it opens no room itself."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import DEADLINE, ROOT, Served, command, environ

ALPHA, BETA, GAMMA = "alpha-1", "alpha-2", "gamma"
TITLES = {ALPHA: "Invoices of May", BETA: "100% wool", GAMMA: "Straße"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("cli") / "instance", server="cheroot")
    yield served
    assert served.end() == 0


@pytest.fixture
def instance(service: Served) -> Path:
    """The folder of a running service that holds three threads, GAMMA the newest and ALPHA the oldest."""
    left = "\n".join(row["thread_id"] for row in service.ask("/api/threads/search", {"limit": 1000}))
    if left:
        command("threads", "delete", "--yes", "-", stdin=left, instance=folder(service))
    for thread_id, title in TITLES.items():
        service.ask("/api/threads", {"thread_id": thread_id, "title": title})
    return folder(service)


def folder(service: Served) -> Path:
    return Path(service.process.args[-1])  # type: ignore[index, arg-type]


def done(instance: Path, *arguments: str, stdin: str | None = None) -> str:
    """Run a verb that must succeed in silence on stderr and give what it prints."""
    ran = command("threads", *arguments, stdin=stdin, instance=instance)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def rows(instance: Path, *arguments: str, stdin: str | None = None) -> Any:
    return json.loads(done(instance, *arguments, "--json", stdin=stdin))


def ids(instance: Path, *arguments: str) -> list[str]:
    return [row["thread_id"] for row in rows(instance, *arguments)]


def refused(instance: Path, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
    """Run a verb that must fail in one line and give its exit code and that line."""
    ran = command("threads", *arguments, stdin=stdin, instance=instance)
    assert (ran.stdout, ran.stderr.count("\n")) == ("", 1), ran.stderr
    return ran.returncode, ran.stderr.rstrip("\n")


def test_a_list_shows_pinned_threads_first_then_the_newest_and_leaves_out_the_archived(instance: Path) -> None:
    assert ids(instance, "list") == [GAMMA, BETA, ALPHA]
    done(instance, "pin", ALPHA)
    done(instance, "archive", GAMMA)
    assert ids(instance, "list") == [ALPHA, BETA]
    assert ids(instance, "list", "--archived") == [GAMMA]
    assert ids(instance, "list", "--all") == [ALPHA, GAMMA, BETA]


def test_a_table_has_a_line_for_each_thread_and_says_how_many_more_there_are(instance: Path, service: Served) -> None:
    done(instance, "pin", GAMMA)
    time = service.ask(f"/api/threads/{GAMMA}")["updated_at"][:16].replace("T", " ")
    assert done(instance, "list", "--limit", "1").splitlines() == [
        "ID     UPDATED (UTC)     STATUS       TITLE",
        f"gamma  {time}  idle pinned  Straße",
        "1 of 3; --limit shows more.",
    ]
    assert done(instance, "search", "nothing") == "No thread matches.\n"


def test_the_json_of_a_thread_has_these_fields(instance: Path, service: Served) -> None:
    served = service.ask(f"/api/threads/{GAMMA}")
    times = {name: served[name] for name in ("created_at", "updated_at", "state_updated_at")}
    expected = {
        "thread_id": GAMMA, "owner": "default", "title": "Straße", "status": "idle", "archived": False, "pinned": False,
        **times, "head_checkpoint_id": None, "metadata": {},
    }  # fmt: skip
    assert rows(instance, "search", "straße") == [expected]
    assert rows(instance, "show", GAMMA) == expected | {"message_count": 0, "messages": []}


def test_a_search_takes_the_text_literally_whatever_its_case(instance: Path) -> None:
    assert ids(instance, "search", "STRASSE") == [GAMMA]
    assert ids(instance, "search", "0% W") == [BETA]
    assert ids(instance, "search", "_") == []
    done(instance, "archive", ALPHA)
    assert ids(instance, "search", "may") == [ALPHA]


def test_show_prints_the_row_and_the_last_messages(instance: Path, service: Served) -> None:
    said = {"role": "user", "content": "Hello\x1b[31m there"}
    service.ask(f"/api/threads/{GAMMA}/runs/wait", {"assistant_id": "agent", "input": {"messages": [said]}})
    shown = done(instance, "show", "gam")
    assert "thread id           gamma\nowner               default\ntitle               Straße\n" in shown
    assert "\nmessages            2\n\nhuman: Hello�[31m there\n\nai: " in shown
    found = rows(instance, "show", GAMMA)
    assert [found["message_count"], found["messages"][0]["content"]] == [2, said["content"]]


def test_rename_sets_a_title_and_an_empty_one_gives_it_back(instance: Path) -> None:
    assert rows(instance, "rename", GAMMA, "  New  ")[0]["title"] == "New"
    assert rows(instance, "rename", GAMMA, "")[0]["title"] is None
    assert refused(instance, "rename", GAMMA, "a\nb") == (
        1, "deerflow-lite: title: must not hold control characters",
    )  # fmt: skip


def test_pin_and_archive_take_several_ids_and_move_no_time(instance: Path) -> None:
    before = {row["thread_id"]: row["updated_at"] for row in rows(instance, "list")}
    pinned = rows(instance, "pin", ALPHA, BETA)
    assert [(row["thread_id"], row["pinned"]) for row in pinned] == [(ALPHA, True), (BETA, True)]
    assert [row["pinned"] for row in rows(instance, "unpin", ALPHA, BETA)] == [False, False]
    assert [row["archived"] for row in rows(instance, "archive", ALPHA, BETA, ALPHA)] == [True, True]
    restored = rows(instance, "restore", ALPHA, BETA)
    assert {row["thread_id"]: row["updated_at"] for row in restored} == {id: before[id] for id in (ALPHA, BETA)}
    assert ids(instance, "list") == [GAMMA, BETA, ALPHA]


def test_a_beginning_that_one_thread_alone_has_is_an_id_and_a_whole_id_wins(instance: Path, service: Served) -> None:
    service.ask("/api/threads", {"thread_id": "gamma-ray"})
    assert rows(instance, "show", "gamma")["thread_id"] == "gamma"
    assert rows(instance, "show", "gamma-")["thread_id"] == "gamma-ray"
    assert rows(instance, "show", "alpha-2")["thread_id"] == BETA


def test_a_beginning_of_several_ids_is_refused_naming_them_and_writes_nothing(instance: Path) -> None:
    assert refused(instance, "archive", GAMMA, "alpha") == (
        1, "deerflow-lite: alpha begins more than one id: alpha-2, alpha-1",
    )  # fmt: skip
    assert ids(instance, "list", "--archived") == []


@pytest.mark.parametrize("unknown", ["delta", "ALPHA-1", "alpha%", "a*", "é"])
def test_an_unknown_id_is_refused_and_nothing_is_written(instance: Path, unknown: str) -> None:
    for verb in (["archive"], ["pin"], ["delete", "--yes"]):
        told = refused(instance, *verb, GAMMA, unknown)
        assert told == (1, f"deerflow-lite: thread_id: thread {unknown} does not exist")
    assert ids(instance, "list") == [GAMMA, BETA, ALPHA]


def test_ids_are_read_from_stdin(instance: Path) -> None:
    archived = rows(instance, "archive", "-", stdin=f"{ALPHA}\n\n  gam\n")
    assert [row["thread_id"] for row in archived] == [ALPHA, GAMMA]


def test_delete_with_yes_removes_threads_for_good(instance: Path, service: Served) -> None:
    assert rows(instance, "delete", "--yes", ALPHA) == {"deleted": [ALPHA]}
    assert done(instance, "delete", "--yes", "gam") == f"deleted {GAMMA}\n"
    assert [row["thread_id"] for row in service.ask("/api/threads/search", {})] == [BETA]


def test_delete_without_yes_is_refused_where_nobody_can_be_asked(instance: Path) -> None:
    assert refused(instance, "delete", ALPHA) == (2, "deerflow-lite: nobody can be asked here: give --yes to delete")
    assert ALPHA in ids(instance, "list")


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, [GAMMA, BETA]), ("n\n", 1, [GAMMA, BETA, ALPHA])])
def test_delete_asks_at_a_terminal(instance: Path, answer: str, code: int, left: list[str]) -> None:
    ours, theirs = pty.openpty()
    verb = [sys.executable, "-m", "deerflow_lite", "threads", "delete", ALPHA]
    quiet = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(verb, cwd=ROOT, env=environ({"instance": instance}), **quiet) as asked:  # type: ignore[call-overload]
        os.write(ours, answer.encode())
        _, question = asked.communicate(timeout=DEADLINE)
    os.close(ours)
    os.close(theirs)
    assert (asked.returncode, "Delete Invoices of May for good?" in question) == (code, True)
    assert ids(instance, "list") == left


def test_a_thread_with_a_run_in_flight_is_not_deleted(tmp_path: Path) -> None:
    served = Served(tmp_path / "instance", server="cheroot", graphs="slow=tests.sample_graphs:slow", stop_grace=0)
    served.ask("/api/threads", {"thread_id": "busy"})
    said = {"messages": [{"role": "user", "content": "20"}]}
    served.ask("/api/threads/busy/runs", {"assistant_id": "slow", "input": said})
    code, told = refused(tmp_path / "instance", "delete", "--yes", "busy")
    assert (code, told) == (1, "deerflow-lite: thread_id: thread busy has a run in flight; cancel it first")
    assert served.end() == 0


def test_options_may_stand_before_or_after_the_verb(instance: Path) -> None:
    for arguments in (("--instance", str(instance), "--json", "list"), ("list", "--json", "--instance", str(instance))):
        ran = command("threads", *arguments)
        assert [row["thread_id"] for row in json.loads(ran.stdout)] == [GAMMA, BETA, ALPHA]


def test_a_memory_store_is_out_of_reach_and_its_file_stays(tmp_path: Path) -> None:
    (tmp_path / "memory.sqlite").write_text("of the running service")
    ran = command("threads", "list", instance=tmp_path, store="memory")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        "deerflow-lite: STORE is memory: the threads live in the service alone, out of the command line's reach\n"
    )
    assert (tmp_path / "memory.sqlite").read_text() == "of the running service"


def test_a_folder_without_a_service_is_said_and_not_made(tmp_path: Path) -> None:
    code, told = refused(tmp_path / "none", "list")
    file = tmp_path / "none" / "deerflow.sqlite"
    assert (code, told) == (1, f"deerflow-lite: {file} does not exist; `deerflow-lite serve` makes it")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("arguments", [["nothing"], ["list", "--limit", "0"], ["show"], ["list", "--colour"]])
def test_a_wrong_command_is_told_in_one_line_with_exit_code_2(tmp_path: Path, arguments: list[str]) -> None:
    assert refused(tmp_path, *arguments)[0] == 2


def test_no_command_prints_the_help_and_version_prints_the_version() -> None:
    assert command().stderr.startswith("Usage: deerflow-lite [OPTIONS] COMMAND")
    assert command("--version").stdout.startswith("deerflow-lite ")
