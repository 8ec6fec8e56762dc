"""The one file at its limits: damaged, newer, full, read-only, held, copied while it is written; as processes."""

import contextlib
import sqlite3
import subprocess
import threading
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.config import Config
from deerflow_lite.errors import FileRefused
from deerflow_lite.gateway import Gateway
from deerflow_lite.threads.model import NewThread
from tests.processes import Served, command

Mount = Callable[[str], Path]
Start = Callable[..., Served]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Mount a small filesystem of its own; the test is skipped where that is not allowed."""
    mounted: list[Path] = []

    def one(size: str) -> Path:
        place = tmp_path / "disk"
        place.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True)
        if made.returncode:
            pytest.skip("no filesystem can be mounted here")
        mounted.append(place)
        return place

    yield one
    for place in mounted:
        subprocess.run(["umount", place], check=True)


def ids(path: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {found for (found,) in connection.execute("SELECT thread_id FROM threads")}


def refused(folder: Path, *arguments: str, **settings: Any) -> str:
    """Run a command that must be refused in one line, and give the line."""
    ran = command(*arguments, instance=folder, **settings)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1), ran.stderr
    return ran.stderr.removeprefix("deerflow-lite: ").rstrip("\n")


def made(folder: Path, number: int = 40) -> Path:
    """Make a closed store that holds threads, and give its file."""
    gateway = Gateway.open(Config(instance=folder), executing=False)
    for each in range(number):
        gateway.opening.create("default", NewThread(f"t{each}", {"note": "x" * 200}))
    gateway.close()
    return folder / "deerflow.sqlite"


def test_a_backup_holds_every_write_acknowledged_before_it_began_while_writes_go_on(
    tmp_path: Path, start: Start
) -> None:
    served = start(tmp_path / "instance")
    acknowledged: list[str] = []
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            acknowledged.append(served.ask("/api/threads", {})["thread_id"])

    writers = [threading.Thread(target=write) for _ in range(3)]
    for one in writers:
        one.start()
    try:
        for number in range(2):
            before = set(acknowledged)
            copy = tmp_path / f"copy-{number}.sqlite"
            ran = command("backup", str(copy), instance=tmp_path / "instance")
            assert (ran.returncode, ran.stdout) == (0, f"{copy}: {copy.stat().st_size} bytes\n"), ran.stderr
            assert before <= ids(copy)
    finally:
        stop.set()
        for one in writers:
            one.join()
        assert served.end() == 0


def test_a_backup_put_in_the_place_of_the_file_is_served_as_it_was(tmp_path: Path, start: Start) -> None:
    folder, copy = tmp_path / "instance", tmp_path / "copy.sqlite"
    served = start(folder)
    kept = served.ask("/api/threads", {"title": "kept"})["thread_id"]
    turn = {"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": "What is 6*7?"}]}}
    values = served.ask(f"/api/threads/{kept}/runs/wait", turn)
    assert command("backup", str(copy), instance=folder).returncode == 0
    served.ask("/api/threads", {"title": "after the backup"})
    assert served.end() == 0
    for left in folder.glob("deerflow.sqlite*"):
        left.unlink()
    copy.rename(folder / "deerflow.sqlite")
    served = start(folder)
    assert [row["thread_id"] for row in served.ask("/api/threads/search", {})] == [kept]
    assert served.ask(f"/api/threads/{kept}/state")["values"]["messages"] == values["messages"]
    assert len(served.ask(f"/api/threads/{kept}/runs/wait", turn)["messages"]) == 9
    assert served.end() == 0


def test_a_backup_replaces_no_file(tmp_path: Path) -> None:
    made(tmp_path)
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert refused(tmp_path, "backup", str(taken)) == f"{taken} exists already"
    assert taken.read_text() == "mine"


def test_a_backup_that_the_disk_cannot_hold_leaves_nothing(tmp_path: Path, mount: Mount) -> None:
    source = made(tmp_path / "instance")
    disk = mount("64k")
    sentence = refused(tmp_path / "instance", "backup", str(disk / "copy.sqlite"))
    assert sentence == f"{disk / 'copy.sqlite.part'} cannot grow: the disk is full"
    assert list(disk.iterdir()) == []
    assert len(ids(source)) == 40


def test_a_migration_copies_the_file_first_and_a_fresh_file_has_no_copy(tmp_path: Path) -> None:
    path = made(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["deerflow.sqlite"]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "DROP TABLE runs; DROP TABLE events; DELETE FROM migrations WHERE name LIKE 'runs:%'; PRAGMA user_version=7"
        )
    Gateway.open(Config(instance=tmp_path), executing=False).close()
    copies = sorted(one.name for one in tmp_path.iterdir())
    assert copies == ["deerflow.sqlite", "deerflow.sqlite.before-runs-runs-and-events"]
    with contextlib.closing(sqlite3.connect(tmp_path / copies[1])) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'runs'").fetchone() == (0,)
    assert ids(tmp_path / copies[1]) == ids(path)


def test_a_damaged_file_is_refused_in_one_line_and_left_as_it_is(tmp_path: Path) -> None:
    path = made(tmp_path)
    page = 4096
    torn = bytearray(path.read_bytes())
    for start in range(page, len(torn), page):
        torn[start : start + 64] = b"\xff" * 64
    path.write_bytes(torn)
    assert "is damaged" in refused(tmp_path, "serve", port=0)
    assert path.read_bytes() == torn
    cut = bytes(torn[: page * 2 + 100])
    path.write_bytes(cut)
    assert "is damaged" in refused(tmp_path, "serve", port=0)
    assert path.read_bytes() == cut


def test_a_file_of_a_newer_version_is_refused_by_its_name_and_left_as_it_is(tmp_path: Path) -> None:
    path = made(tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('zebra')")
        connection.commit()
    for verb in (("serve",), ("threads", "list")):
        assert refused(tmp_path, *verb, port=0) == "deerflow.sqlite was written by a newer version: zebra"


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path, mount: Mount) -> None:
    disk = mount("4m")
    made(disk / "instance")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert refused(disk / "instance", "serve", port=0) == (
        f"{disk / 'instance'} cannot be used as data folder: Read-only file system"
    )
    assert refused(disk / "instance", "threads", "list").startswith(f"{disk / 'instance' / 'deerflow.sqlite'} cannot ")


def test_a_start_on_a_full_disk_is_said_in_one_line(tmp_path: Path, mount: Mount) -> None:
    disk = mount("1m")
    (disk / "ballast").write_bytes(b"\0" * (1024 * 1024 - 16 * 1024))
    sentence = refused(disk / "instance", "serve", port=0)
    assert sentence in {
        f"{disk / 'instance' / 'deerflow.sqlite'} cannot {reason}"
        for reason in ("grow: the disk is full", "be read or written: the disk reports an error")
    }


def test_a_full_disk_refuses_writes_for_now_and_harms_nothing(mount: Mount, start: Start) -> None:
    disk = mount("3m")
    ballast = disk / "ballast"
    served = start(disk / "instance")
    acknowledged = {served.ask("/api/threads", {})["thread_id"]}
    with ballast.open("wb", buffering=0) as filled, contextlib.suppress(OSError):
        while filled.write(b"\0" * 4096):
            pass
    with pytest.raises(urllib.error.HTTPError) as failed:
        for _ in range(2000):
            acknowledged.add(served.ask("/api/threads", {"metadata": {"note": "x" * 2000}})["thread_id"])
    assert (failed.value.code, failed.value.headers["Retry-After"]) == (503, "1")
    failed.value.close()
    assert served.ask("/api/threads/count", {}) == len(acknowledged)
    ballast.unlink()
    acknowledged.add(served.ask("/api/threads", {})["thread_id"])
    assert served.end() == 0
    assert ids(disk / "instance" / "deerflow.sqlite") == acknowledged


def test_a_file_that_another_program_holds_at_the_start_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path)
    monkeypatch.setattr("deerflow_lite.db.BUSY_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileRefused) as held:
            Gateway.open(Config(instance=tmp_path))
        assert str(held.value) == f"{path} is held by another program"
        other.execute("ROLLBACK")
