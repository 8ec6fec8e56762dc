"""How the tests talk in threads and branch them; it asserts nothing but that what is refused leaves nothing."""

from typing import Any

import pytest

from tests.service import Service, human, texts

REFUSAL = "This turn can no longer be branched from."
MODES = pytest.mark.parametrize("graph", ["chat", "delta"])


def talk(service: Service, graph: str, *given: str) -> str:
    thread = service.thread()
    for text in given:
        service.wait(thread, graph, text)
    return thread


def answers(service: Service, thread: str) -> list[str]:
    """Give the ids of the answers at the head."""
    return [one["id"] for one in service.state(thread)["values"]["messages"] if one["type"] == "ai"]


def branch(service: Service, thread: str, message_id: str, status: int = 200, **more: Any) -> Any:
    return service.ask("POST", f"/threads/{thread}/branches", {"message_id": message_id} | more, status)


def path(service: Service, thread: str) -> list[str]:
    return texts(service.state(thread)["values"])


def regenerate(service: Service, thread: str, graph: str, base: str, text: str) -> list[str]:
    """Ask again from a base, as a regenerate does."""
    return texts(service.wait(thread, graph, human(text), checkpoint_id=base))


def refused(service: Service, thread: str, message_id: str, **more: Any) -> str:
    """Branch from what cannot be branched from, see that nothing is left behind, and give the reason."""
    before = service.counts()
    detail = branch(service, thread, message_id, 409, **more)["detail"]
    assert service.counts() == before
    return str(detail)
