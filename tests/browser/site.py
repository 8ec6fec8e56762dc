"""A running service and its URL, with the few rows that the page's tests begin with; it knows no browser."""

from dataclasses import dataclass
from typing import Any

from tests.service import Service


@dataclass(frozen=True)
class Site:
    """The service as a browser reaches it, and as the test writes to it."""

    service: Service
    url: str

    def chat(self, thread_id: str, title: str | None = None, **metadata: Any) -> str:
        """Make an empty chat."""
        named = {} if title is None else {"title": title}
        return self.service.thread(thread_id=thread_id, metadata=metadata, **named)

    def chats(self, count: int, begin: str = "chat", **metadata: Any) -> list[str]:
        """Make chats named `begin 1` and so on; the last one is the newest."""
        return [self.chat(f"{begin}-{number}", f"{begin} {number}", **metadata) for number in range(1, count + 1)]

    def talk(self, thread_id: str, *texts: str, assistant: str = "agent") -> None:
        """Ask each text and wait for its answer; a chat that is not there is made."""
        self.service.thread(thread_id=thread_id)
        for text in texts:
            self.service.wait(thread_id, assistant, text)

    def archived(self, thread_id: str) -> bool:
        """Say whether the service has the chat as archived."""
        return self.service.get(thread_id)["metadata"].get("deerflow_archived") is True
