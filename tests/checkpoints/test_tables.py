"""Files whose saver tables another program made: refused by name and left as they are, or used as they stand."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from deerflow_lite.config import Config
from deerflow_lite.errors import FileRefused
from deerflow_lite.gateway import Gateway
from deerflow_lite.lifecycle import base
from deerflow_lite.threads.model import NewThread
from tests.lifecycle.stored import FIXTURES, GRAPHS, MANIFEST
from tests.service import Service, texts

OTHER = [
    (
        "ALTER TABLE checkpoints RENAME COLUMN parent_checkpoint_id TO parent",
        "has no column parent_checkpoint_id",
    ),
    ("ALTER TABLE writes DROP COLUMN channel", "writes has no column channel"),
    ("ALTER TABLE writes RENAME TO w; CREATE TABLE writes AS SELECT * FROM w", "writes has the key ()"),
    (
        "DROP TABLE checkpoints; CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT,"
        " parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, tenant TEXT NOT NULL,"
        " PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
        "checkpoints has a column tenant that LangGraph does not fill",
    ),
]


def stored(folder: Path, statements: str) -> Config:
    """Copy a file that LangGraph made and change its tables."""
    folder.mkdir()
    config = Config(instance=folder, graphs=GRAPHS)
    shutil.copy(FIXTURES / "chat-two-turns-full.sqlite", config.database)
    connection = sqlite3.connect(config.database)
    connection.executescript(statements)
    connection.close()
    return config


def schema(config: Config) -> list[tuple[str]]:
    connection = sqlite3.connect(config.database)
    found = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return found


@pytest.mark.parametrize(("statements", "reason"), OTHER)
def test_tables_that_the_saver_could_not_write_to_are_refused_by_name(
    tmp_path: Path, statements: str, reason: str
) -> None:
    config = stored(tmp_path / "home", statements)
    before = schema(config)
    with pytest.raises(FileRefused) as caught:
        Gateway.open(config)
    assert reason in caught.value.detail
    assert schema(config) == before


def test_columns_that_are_added_to_the_tables_are_let_be(tmp_path: Path, serve: Callable[..., Service]) -> None:
    added = "ALTER TABLE checkpoints ADD COLUMN note TEXT; ALTER TABLE writes ADD COLUMN tenant TEXT DEFAULT 'x'"
    stored(tmp_path / "added", added)
    service = serve(instance=tmp_path / "added", graphs=GRAPHS)
    rows = MANIFEST["chat-two-turns-full"]["threads"]["t"]
    new = NewThread("t", {"graph_id": "full"}, head=rows[-1]["id"])
    thread = service.gateway.threads.create("default", new)
    wanted = MANIFEST["chat-two-turns-full"]["base"]["u2"]
    assert base.replay_base(service.gateway.rooms, thread, "u2", head=rows[-1]["id"]).checkpoint_id == wanted
    assert "three" in texts(service.wait("t", "full", "three"))
