"""LangGraph's own conformance suite over our saver and over the view of a run."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite.checkpoints import tables
from deerflow_lite.checkpoints.run_view import RunView
from deerflow_lite.checkpoints.saver import FileSaver
from deerflow_lite.checkpoints.trail import Trail
from deerflow_lite.db import Database
from deerflow_lite.journal import Journal

conformance: Any = importlib.import_module("langgraph.checkpoint.conformance")
EXTENSIONS = {"delete_for_runs", "copy_thread", "prune"}


class Awaited(FileSaver):
    """Our saver with its sync methods behind the async names that the suite calls."""

    async def aput(self, *given: Any) -> Any:
        return self.put(*given)

    async def aput_writes(self, *given: Any, **named: Any) -> None:
        self.put_writes(*given, **named)

    async def aget_tuple(self, config: Any) -> Any:
        return self.get_tuple(config)

    async def alist(self, config: Any, **given: Any) -> AsyncIterator[Any]:
        for found in self.list(config, **given):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)


@pytest.mark.filterwarnings("ignore")
def test_the_saver_passes_langgraphs_conformance_suite(tmp_path: Path) -> None:
    database = Database(tmp_path / "file.sqlite")
    database.migrate(tables.MIGRATIONS)

    @conformance.checkpointer_test(name="FileSaver", skip_capabilities=EXTENSIONS)  # type: ignore[untyped-decorator]
    async def savers() -> AsyncIterator[Any]:
        with database.writing() as connection:
            connection.execute("DELETE FROM checkpoints")
            connection.execute("DELETE FROM writes")
        yield Awaited(database)

    report = asyncio.run(conformance.validate(savers))
    database.close()
    assert report.passed_all_base(), report.to_dict()


def test_a_run_sees_at_once_what_it_has_put(tmp_path: Path) -> None:
    database = Database(tmp_path / "file.sqlite")
    database.migrate(tables.MIGRATIONS)
    journal = Journal(database)

    async def go() -> list[Any]:
        from langgraph.checkpoint.base import empty_checkpoint

        stored: list[str] = []
        saver = FileSaver(database)
        view = RunView(saver, journal, None, lambda _: None, lambda _, one: stored.append(one), Trail(), sync=False)
        place: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        seen = []
        for step in range(5):
            made = empty_checkpoint()
            place = await view.aput(place, made, {"source": "loop", "step": step, "parents": {}}, {})
            await view.aput_writes(place, [("x", step)], f"task-{step}")
            found = await view.aget_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
            assert found is not None
            seen.append((found.checkpoint["id"] == made["id"], found.metadata["step"], found.pending_writes))
        journal.close()
        assert len(stored) == 5
        return seen

    assert asyncio.run(go()) == [(True, step, [(f"task-{step}", "x", step)]) for step in range(5)]
    database.close()
