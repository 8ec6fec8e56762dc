"""The title of a branch: given, or its source's without piled-up prefixes."""

import pytest

from tests.lifecycle.branches import answers, branch, talk
from tests.lifecycle.branching_graphs import GRAPHS
from tests.lifecycle.conftest import Shared
from tests.service import Service

MODES = pytest.mark.parametrize("mode", ["full", "delta"])


TITLES = {
    " Branch: branch: X ": "X", "BRANCH:X": "X", "Branching: X": "Branching: X", "A Branch: X": "A Branch: X",
    "branch:": None, "X": "X",
}  # fmt: skip


@MODES
def test_a_branch_has_its_sources_title_without_piled_up_prefixes(shared: Shared, mode: str) -> None:
    service = shared(graphs=GRAPHS)
    source = talk(service, mode, "h1")
    last = answers(service, source)[-1]
    of_branch = branch(service, source, last)["thread_id"]
    for title, expected in TITLES.items():
        for thread, wanted in ((of_branch, expected), (source, title.strip())):
            service.ask("PATCH", f"/threads/{thread}", {"title": title})
            assert service.get(branch(service, thread, last)["thread_id"])["title"] == wanted


@MODES
def test_a_title_that_is_blank_or_too_long_is_422_and_nothing_is_left(shared: Shared, mode: str) -> None:
    service = shared(graphs=GRAPHS)
    thread = talk(service, mode, "h1")
    last, before = answers(service, thread)[-1], service.counts()
    for title in ("", "  ", "\n", "x" * 257, "a\nb"):
        assert list(branch(service, thread, last, 422, title=title)["errors"]) == ["title"], title
    assert service.counts() == before
    made = branch(service, thread, last, title="x" * 256)["thread_id"]
    assert service.get(made)["title"] == "x" * 256


def test_a_title_given_is_set_by_hand_an_inherited_one_is_what_it_was(service: Service) -> None:
    thread = talk(service, "numbered", "h1")
    last = answers(service, thread)[-1]
    given = branch(service, thread, last, title="  Mine ")["thread_id"]
    same = branch(service, thread, last)["thread_id"]
    rows = {one: service.gateway.threads.get("default", one) for one in (given, same)}
    assert (rows[given].title, rows[given].title_manual) == ("Mine", True)
    assert (rows[same].title, rows[same].title_manual) == ("h1", False)
    service.ask("PATCH", f"/threads/{thread}", {"title": "Named"})
    named = service.gateway.threads.get("default", branch(service, thread, last)["thread_id"])
    assert (named.title, named.title_manual) == ("Named", True)
