"""The doctor over files that are whole and files that other programs broke; it repairs nothing by itself."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from deerflow_lite.threads.model import Change, NewThread
from deerflow_lite.upkeep.adopt import Adoption

FIXTURES = Path(__file__).parent.parent / "fixtures"
Open = Callable[..., Gateway]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Open a service over a fixture's file, as `deerflow-lite doctor` does; each is closed after the test."""
    made: list[Gateway] = []

    def one(fixture: str | None = None, **settings: str) -> Gateway:
        home = tmp_path / str(len(made))
        home.mkdir()
        if fixture is not None:
            shutil.copy(FIXTURES / f"{fixture}.sqlite", home / "deerflow.sqlite")
        chosen = {"graphs": "chat=tests.sample_graphs:chat"} | settings
        made.append(Gateway.open(Config(instance=home, **chosen), executing=False))
        return made[-1]

    yield one
    for gateway in made:
        gateway.close()


def named(gateway: Gateway) -> list[tuple[str, str | None, str]]:
    return [(one.thread_id, one.checkpoint_id, one.reason) for one in gateway.doctor.examine().findings]


def counts(gateway: Gateway) -> dict[str, int]:
    with gateway.db.reading() as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def test_nothing_is_wrong_in_a_fresh_store(opened: Open) -> None:
    gateway = opened()
    gateway.opening.create("U1", NewThread("one", {}))
    found = gateway.doctor.examine()
    assert (found.threads, found.checkpoints, found.findings) == (1, 1, [])


@pytest.mark.parametrize(
    ("fixture", "reasons"),
    [
        ("corrupt-parent-cycle", ["cycle", "cycle", "cycle"]),
        ("corrupt-self-parent", ["cycle"]),
        ("corrupt-dangling-parent", ["dangling"]),
        ("corrupt-dangling-by-api", ["dangling"]),
        ("corrupt-foreign-parent", ["foreign"]),
        ("corrupt-blob", ["unreadable"]),
        ("corrupt-parentless-chain", []),
        ("corrupt-parentless-head", []),
        ("corrupt-parent-empty-string", []),
        ("corrupt-only-empty", []),
        ("regenerate-full", []),
        ("fork-full", []),
        ("interrupted-delta", []),
    ],
)
def test_each_kind_of_broken_lineage_is_found_and_a_link_that_is_absent_is_none(
    opened: Open, fixture: str, reasons: list[str]
) -> None:
    gateway = opened(fixture)
    before = counts(gateway)
    found = [one for one in gateway.doctor.examine().findings if one.reason != "orphan"]
    assert [one.reason for one in found] == reasons
    assert all(one.checkpoint_id and one.advice for one in found)
    assert counts(gateway) == before


def test_checkpoints_of_no_thread_are_orphans_and_adopting_them_is_planned_before_it_is_done(opened: Open) -> None:
    gateway = opened("chat-precreated-full")
    assert named(gateway) == [("t", None, "orphan")]
    before = counts(gateway)
    with gateway.db.reading() as connection:
        [newest] = connection.execute("SELECT max(checkpoint_id) FROM checkpoints").fetchone()
    assert gateway.adopting.plan("t") == Adoption("t", newest)
    assert counts(gateway) == before
    assert gateway.adopting.adopt("t") == Adoption("t", newest)
    thread = gateway.threads.get("default", "t")
    assert (thread.head, thread.root, thread.status, thread.metadata) == (newest, None, "idle", "{}")
    values = gateway.threads.values([thread])[thread.row]
    assert values.body.count('"type":"human"') == 2 and values.settled
    assert named(gateway) == []


def test_an_adopted_thread_is_named_by_its_first_question_and_can_go_on(opened: Open) -> None:
    gateway = opened("interrupted-full")
    for thread_id in ("t", "t2", "t3"):
        assert gateway.adopting.adopt(thread_id).refusal is None
    shown = [gateway.threads.get("default", one) for one in ("t", "t2", "t3")]
    assert [thread.status for thread in shown] == ["interrupted", "idle", "interrupted"]
    assert all(thread.title for thread in shown)
    assert named(gateway) == []


def test_checkpoints_that_cannot_be_trusted_with_a_head_are_not_adopted(opened: Open) -> None:
    circle = opened("corrupt-parent-cycle")
    assert circle.adopting.adopt("t").refusal == "its parent links lead in a circle"
    odd = opened()
    with odd.db.writing() as connection:
        for thread_id, namespace, blob in (("a b", "", b"\x80"), ("sub", "inner:1", b"\x80"), ("torn", "", b"\xc1")):
            connection.execute(
                "INSERT INTO checkpoints VALUES (?, ?, '1', NULL, 'msgpack', ?, '{}')", (thread_id, namespace, blob)
            )
    refusals = {one: odd.adopting.adopt(one).refusal for one in ("a b", "sub", "torn")}
    assert refusals == {
        "a b": "its newest checkpoint 1 cannot be decoded",
        "sub": "it has no checkpoint of the root namespace",
        "torn": "its newest checkpoint 1 cannot be decoded",
    }
    assert odd.doctor.examine().threads == 0


def test_a_thread_whose_graph_cannot_read_it_is_adopted_without_values(opened: Open) -> None:
    gateway = opened("chat-two-turns-full", graphs="gone=tests.no_such_module:graph")
    adopted = gateway.adopting.adopt("t")
    assert adopted.refusal is None and adopted.note is not None and "gone" in adopted.note
    thread = gateway.threads.get("default", "t")
    assert (thread.head, gateway.threads.values([thread])) == (adopted.head, {})


def test_a_delta_thread_is_adopted_without_values_by_a_full_graph(opened: Open) -> None:
    gateway = opened("chat-two-turns-delta")
    adopted = gateway.adopting.adopt("t")
    assert adopted.note is not None and "CHECKPOINT_MODE=delta" in adopted.note
    thread = gateway.threads.get("default", "t")
    assert (thread.head, gateway.threads.values([thread])) == (adopted.head, {})


def test_an_id_that_no_thread_may_have_is_not_adopted(opened: Open) -> None:
    gateway = opened("corrupt-only-empty")
    with gateway.db.writing() as connection:
        connection.execute("UPDATE checkpoints SET thread_id = 'search'")
    assert gateway.adopting.adopt("search").refusal == "thread_id: search is a reserved word"


def test_a_head_that_is_not_stored_is_found(opened: Open) -> None:
    gateway = opened()
    gateway.opening.create("U1", NewThread("one", {}))
    gateway.threads.change("U1", "one", Change(head="1f1ecb50-0000-6000-8000-000000000000"))
    assert named(gateway) == [("one", "1f1ecb50-0000-6000-8000-000000000000", "head")]


def test_reading_a_whole_store_goes_through_every_page_of_it(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = opened()
    for number in range(5):
        gateway.opening.create("U1", NewThread(f"t{number}", {}))
    monkeypatch.setattr("deerflow_lite.upkeep.doctor.PAGE", 2)
    found = gateway.doctor.examine()
    assert (found.threads, found.checkpoints, found.findings) == (5, 5, [])


def test_adopting_twice_is_refused(opened: Open) -> None:
    gateway = opened("chat-two-turns-full")
    gateway.adopting.adopt("t")
    assert gateway.adopting.adopt("t").refusal == "thread_id: thread t already exists"


def plant_leftovers(gateway: Gateway) -> None:
    for thread_id in ("one", "stale"):
        gateway.opening.create("U1", NewThread(thread_id, {}))
    gateway.threads.change("U1", "stale", Change(status="busy", touch=False))
    with gateway.db.writing() as connection:
        connection.execute("INSERT INTO events (run, id, event, data) VALUES (77, 1, 'end', CAST('null' AS BLOB))")
        connection.execute(
            "INSERT INTO writes (thread_id, checkpoint_id, task_id, idx, channel) VALUES ('one', 'gone', 't', 0, 'c')"
        )
        names = "run_id, thread_row, thread_id, owner, assistant_id, graph_id, status, created_at, updated_at, kwargs"
        connection.execute(
            f"INSERT INTO runs ({names}, metadata, strategy, continues, credentials)"
            " VALUES ('r', 999, 'gone', 'U1', 'a', 'g', 'success', '', '', '{}', '{}', 'enqueue', 1, 0)"
        )


LEFTOVERS = [
    ("stale", None, "busy"), ("gone", None, "runs"), ("run 77", None, "events"), ("one", "gone", "writes"),
]  # fmt: skip


def test_what_belongs_to_nothing_and_a_thread_busy_with_nothing_are_found_and_repaired(opened: Open) -> None:
    gateway = opened()
    plant_leftovers(gateway)
    before = counts(gateway)
    assert named(gateway) == LEFTOVERS
    assert counts(gateway) == before
    repaired = gateway.repairing.repair()
    assert [(one.thread_id, one.checkpoint_id, one.reason) for one in repaired] == LEFTOVERS
    assert all(one.advice for one in repaired)
    assert (named(gateway), gateway.repairing.repair()) == ([], [])
    assert gateway.threads.get("U1", "stale").status == "idle"
    gone = {"events": 1, "runs": 1, "writes": 1}
    assert counts(gateway) == {table: number - gone.get(table, 0) for table, number in before.items()}


def test_a_damaged_file_is_told_and_nothing_else_is_said_of_it(opened: Open) -> None:
    gateway = opened()
    gateway.opening.create("U1", NewThread("one", {}))
    gateway.db.writer.execute("PRAGMA writable_schema=ON")
    gateway.db.writer.execute("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'threads_created_at'")
    gateway.close()
    again = Gateway.open(gateway.config, executing=False)
    found = again.doctor.examine()
    again.close()
    assert (found.threads, found.findings) == (0, [])
    assert found.damage is not None and found.damage.startswith(f"{gateway.config.database} is damaged: ")
