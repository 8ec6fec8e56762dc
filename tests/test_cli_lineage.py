"""The verbs on lineages as processes: branch and convert beside a running service, doctor on a file of its own."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from deerflow_lite.threads.model import Change, NewThread
from tests.processes import ROOT, Served, command


def ran(instance: Path, *arguments: str, **settings: Any) -> tuple[int, Any]:
    """Run a verb with --json and give its exit code and what it prints."""
    done = command(*arguments, "--json", instance=instance, **settings)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def refused(instance: Path, *arguments: str) -> tuple[int, str]:
    done = command(*arguments, instance=instance)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1), done.stderr
    return done.returncode, done.stderr


def test_branch_and_convert_work_beside_a_running_service(tmp_path: Path) -> None:
    served = Served(tmp_path / "instance", server="cheroot", checkpoint_mode="delta")
    served.ask("/api/threads", {"thread_id": "one"})
    said = {"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": "Hello"}]}}
    answer = served.ask("/api/threads/one/runs/wait", said)["messages"][-1]["id"]
    given = {"instance": tmp_path / "instance", "checkpoint_mode": "delta"}
    code, made = ran(
        given["instance"], "threads", "branch", "on", "--message", answer, "--title", "Mine", checkpoint_mode="delta"
    )
    assert (code, made["parent_thread_id"], made["branched_from_message_id"]) == (0, "one", answer)
    shown = served.ask(f"/api/threads/{made['thread_id']}")
    assert (shown["title"], shown["values"]["messages"][-1]["id"]) == ("Mine", answer)
    plain = command("threads", "branch", "one", "--message", answer, **given)
    assert (plain.returncode, plain.stderr) == (0, "")
    assert served.ask(f"/api/threads/{plain.stdout.strip()}")["title"] == "Hello"
    assert refused(given["instance"], "threads", "branch", "one", "--message", "absent")[0] == 1
    code, done = ran(given["instance"], "threads", "convert", "one", "--to", "full")
    assert (code, done["thread_id"], done["to"]) == (0, "one", "full") and 0 < done["rewritten"] <= done["checkpoints"]
    told = command("threads", "convert", "one", "--to", "delta", instance=given["instance"]).stdout
    assert told == f"one: a delta graph reads its {done['checkpoints']} checkpoints as they are\n"
    assert served.ask("/api/threads/one/state")["values"]["messages"][-1]["id"] == answer
    assert command("doctor", instance=given["instance"]).stdout.endswith(": nothing is wrong.\n")
    assert served.end() == 0
    full = command("threads", "show", "one", instance=given["instance"], checkpoint_mode="full")
    assert "human: Hello" in full.stdout


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder whose file another program made."""
    shutil.copy(ROOT / "tests/fixtures/corrupt-dangling-parent.sqlite", tmp_path / "deerflow.sqlite")
    return tmp_path


def test_doctor_says_what_is_wrong_and_adopts_only_when_told_twice(foreign: Path) -> None:
    code, found = ran(foreign, "doctor")
    assert (code, found["threads"]) == (1, 0)
    assert [one["reason"] for one in found["findings"]] == ["orphan", "dangling"]
    assert all(one["advice"] for one in found["findings"]) and "would_adopt" not in found
    code, planned = ran(foreign, "doctor", "--adopt")
    assert (code, planned["threads"], [one["refusal"] for one in planned["would_adopt"]]) == (1, 0, [None])
    assert command("doctor", "--adopt", instance=foreign).stdout.startswith("t: would be adopted with the head ")
    assert ran(foreign, "threads", "list") == (0, [])
    code, done = ran(foreign, "doctor", "--adopt", "--yes")
    assert (code, done["threads"], [one["reason"] for one in done["findings"]]) == (1, 1, ["dangling"])
    [thread] = ran(foreign, "threads", "list")[1]
    assert (thread["thread_id"], thread["head_checkpoint_id"]) == ("t", done["adopted"][0]["head"])
    assert refused(foreign, "doctor", "--yes")[0] == 2


def test_doctor_tells_people_each_finding_in_a_line(foreign: Path) -> None:
    told = command("doctor", instance=foreign)
    lines = told.stdout.splitlines()
    assert (told.returncode, told.stderr, len(lines)) == (1, "", 3)
    assert lines[0].startswith("t: orphan: ") and ": dangling: " in lines[1]
    assert lines[2].endswith(" checkpoints: 2 found.")


def test_doctor_repairs_only_when_told_twice_and_counts_in_good_english(tmp_path: Path) -> None:
    gateway = Gateway.open(Config(instance=tmp_path), executing=False)
    gateway.opening.create("default", NewThread("one", {}))
    gateway.threads.change("default", "one", Change(status="busy", touch=False))
    gateway.close()
    code, planned = ran(tmp_path, "doctor", "--repair")
    assert (code, [one["reason"] for one in planned["would_repair"]]) == (1, ["busy"])
    told = command("doctor", "--repair", instance=tmp_path).stdout.splitlines()
    assert told[:2] == ["one: busy: would be repaired", "Nothing was written; --yes does it."]
    assert told[-1] == "1 thread, 1 checkpoint: 1 found."
    told = command("doctor", "--repair", "--yes", instance=tmp_path).stdout.splitlines()
    assert told == ["one: busy: repaired", "1 thread, 1 checkpoint: nothing is wrong."]


def test_options_may_stand_before_the_verb_or_behind_it(tmp_path: Path) -> None:
    gateway = Gateway.open(Config(instance=tmp_path), executing=False)
    gateway.opening.create("default", NewThread("one", {}))
    gateway.close()
    before = command("--instance", str(tmp_path), "--json", "threads", "list")
    behind = command("threads", "list", "--instance", str(tmp_path), "--json")
    assert (before.returncode, before.stderr) == (0, "")
    assert before.stdout == behind.stdout and json.loads(before.stdout)[0]["thread_id"] == "one"
