"""The one file where it may not grow: limits of the process and of SQLite stand for a full disk, on any machine."""

import os
import resource
import subprocess
import sys
import urllib.error
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import DEADLINE, ROOT, Served, environ
from tests.service import Service, human
from tests.upkeep.test_file import ids, made

BLOCK = 512
NOTE = {"metadata": {"note": "x" * 2000}}


def limited(size: int, folder: Path, *arguments: str) -> str:
    """Run a command that may write no file beyond a size, and give the one line in which it is refused."""
    ran = subprocess.run(
        ["sh", "-c", f'ulimit -f {size // BLOCK}; exec "$@"', "sh", sys.executable, "-m", "deerflow_lite", *arguments],
        cwd=ROOT, env=environ({"instance": folder, "port": 0}), capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1), ran.stderr
    return ran.stderr.removeprefix("deerflow-lite: ").rstrip("\n")


def grow(served: Served, size: int) -> None:
    """Let the files of a service grow to a size and no further."""
    for process in served.everybody():
        hard = resource.prlimit(process, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(process, resource.RLIMIT_FSIZE, (size, hard))


def test_a_service_whose_file_cannot_grow_refuses_writes_for_now_and_harms_nothing(
    tmp_path: Path, start: Callable[..., Served]
) -> None:
    folder = tmp_path / "instance"
    served = start(folder)
    acknowledged = {served.ask("/api/threads", {})["thread_id"]}
    grow(served, max(path.stat().st_size for path in folder.iterdir()))
    with pytest.raises(urllib.error.HTTPError) as failed:
        for _ in range(2000):
            acknowledged.add(served.ask("/api/threads", NOTE)["thread_id"])
    assert (failed.value.code, failed.value.headers["Retry-After"]) == (503, "1")
    failed.value.close()
    assert served.ask("/api/threads/count", {}) == len(acknowledged)
    grow(served, resource.RLIM_INFINITY)
    acknowledged.add(served.ask("/api/threads", {})["thread_id"])
    assert served.end() == 0
    assert ids(folder / "deerflow.sqlite") == acknowledged


def test_a_full_file_refuses_threads_and_runs_for_now_and_goes_on_once_there_is_room(service: Service) -> None:
    thread = service.thread()
    service.wait(thread, "chat", "before")
    before = service.counts()
    writer = service.gateway.db.writer
    with service.gateway.db.lock:
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        (most,) = writer.execute("PRAGMA max_page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count={pages}")
    run = {"assistant_id": "chat", "input": human("x" * 100_000)}
    for path, body in (("/threads", {"metadata": {"note": "x" * 60_000}}), (f"/threads/{thread}/runs", run)):
        with service.call("POST", path, body) as refused:
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1"), path
            assert refused.get_json() == {"detail": "the database cannot be written now: database or disk is full"}
    assert service.counts() == before
    with service.gateway.db.lock:
        writer.execute(f"PRAGMA max_page_count={most}")
    assert len(service.wait(thread, "chat", "after")["messages"]) == 4


def test_a_backup_that_cannot_be_written_whole_leaves_nothing(tmp_path: Path) -> None:
    source, target = made(tmp_path / "instance"), tmp_path / "elsewhere"
    target.mkdir()
    sentence = limited(16 * BLOCK, tmp_path / "instance", "backup", str(target / "copy.sqlite"))
    assert sentence == f"{target / 'copy.sqlite.part'} cannot be read or written: the disk reports an error"
    assert os.listdir(target) == []
    assert len(ids(source)) == 40


def test_a_start_whose_file_cannot_grow_is_said_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "instance"
    sentence = limited(16 * BLOCK, folder, "serve")
    assert sentence == f"{folder / 'deerflow.sqlite'} cannot be read or written: the disk reports an error"
