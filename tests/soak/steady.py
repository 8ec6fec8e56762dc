"""Uses the service for a long time as many clients do, some of whom leave in the middle of a stream."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from tests.processes import Served
from tests.soak.crash import GRAPHS, doctored
from tests.soak.hand import HEADERS, Hand, Unexpected

SETTLED: Final = 60.0  # seconds after which the memory is compared with that of the end
SAMPLES: Final = 20
GROWTH: Final = 1.2


class User(Hand):
    """A hand that also streams, leaves streams, and searches."""

    def once(self) -> None:
        """Do one thing."""
        kind = self.chance.random()
        if self.known and kind < 0.3:
            self._stream(self.chance.choice(sorted(self.known)))
        elif kind < 0.45:
            self._search()
        else:
            super().once()

    def _search(self) -> None:
        filters = ({}, {"archived": self.chance.random() < 0.5}, {"metadata": {"made_by": self.name}}, {"query": "m"})
        self.ask("POST", "/threads/search", {"limit": 20, **self.chance.choice(filters)})

    def _stream(self, thread_id: str) -> None:
        """Follow a run for a random number of lines; the connection of who leaves is of no more use."""
        body = self._turn(thread_id) | {"stream_mode": ["values", "messages-tuple"]}
        self._connection.request("POST", f"/threads/{thread_id}/runs/stream", json.dumps(body).encode(), HEADERS)
        answer = self._connection.getresponse()
        if answer.status != http.client.OK:
            raise Unexpected(f"{self.name}: a stream was answered {answer.status} {answer.read()[:500]!r}")
        for _ in range(self.chance.choice((1, 5, 10_000))):
            if not answer.readline():
                break
        self.answered += 1
        answer.close()
        self._connection.close()


def steady(folder: Path, seed: int, clients: int, seconds: float, told: Callable[[str], None]) -> None:
    """Use a service for so long; raises AssertionError for a failed answer, for growth and for a finding."""
    served = Served(folder, graphs=GRAPHS)
    try:
        memory = _used(served, [User(f"u{number}", seed + number, ("chat", "delta")) for number in range(clients)],
                       seconds, told)  # fmt: skip
        doctored(folder)
    finally:
        code = served.end()
    assert code == 0
    before, after = median(memory[:SAMPLES]), median(memory[-SAMPLES:])
    told(f"memory: {before / 1e6:.0f} MB, at the end {after / 1e6:.0f} MB")
    assert seconds <= 2 * SETTLED or after <= GROWTH * before, (before, after)


def _used(served: Served, users: list[User], seconds: float, told: Callable[[str], None]) -> list[int]:
    """Let users work and give the memory second by second, from the first that counts."""
    failures: list[BaseException] = []
    end = time.monotonic() + seconds

    def over() -> bool:
        return bool(failures) or time.monotonic() > end

    def work(user: User) -> None:
        try:
            user.work(served.url, over)
            assert over(), f"{user.name} lost the service"
        except AssertionError as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(user,)) for user in users]
    for worker in workers:
        worker.start()
    memory, began = [_memory(served)], time.monotonic()
    while any(worker.is_alive() for worker in workers):
        workers[0].join(timeout=1)
        if time.monotonic() - began < min(SETTLED, seconds / 2):
            memory.clear()
        memory.append(_memory(served))
        if len(memory) % 60 == 0:
            told(f"{sum(user.answered for user in users)} answers, {memory[-1] / 1e6:.0f} MB")
    for failure in failures:
        raise failure
    told(f"{sum(user.answered for user in users)} answers in {seconds:.0f} s")
    return memory


def _memory(served: Served) -> int:
    """Give the bytes that the processes hold, shared ones divided."""
    found = 0
    for pid in served.everybody():
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        found += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return found
