"""The title of a branch: given, or its source's without piled-up prefixes."""

import pytest

from tests.lifecycle.branches import answers, branch, talk
from tests.service import Service


@pytest.mark.parametrize(
    ("title", "of_branch", "expected"),
    [
        (" Branch: branch: X ", True, "X"),
        ("BRANCH:X", True, "X"),
        ("Branching: X", True, "Branching: X"),
        ("A Branch: X", True, "A Branch: X"),
        ("branch:", True, None),
        ("Branch: branch: X", False, "Branch: branch: X"),
        ("X", False, "X"),
    ],
)
def test_a_branch_has_its_sources_title_without_piled_up_prefixes(
    service: Service, title: str, of_branch: bool, expected: str | None
) -> None:
    thread = talk(service, "chat", "h1")
    if of_branch:
        thread = branch(service, thread, answers(service, thread)[-1])["thread_id"]
    service.ask("PATCH", f"/threads/{thread}", {"title": title})
    made = service.get(branch(service, thread, answers(service, thread)[-1])["thread_id"])
    assert made["title"] == expected


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
    before = service.counts()
    assert "title" in branch(service, thread, last, 422, title="x" * 257)["errors"]
    assert service.counts() == before
