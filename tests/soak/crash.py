"""Kills the service at random moments of a mixed load and looks, after each new start, whether it kept its promises."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from tests.processes import Served
from tests.service import until
from tests.soak.hand import Hand, Known, Unexpected

GRAPHS = "chat=tests.sample_graphs:chat,delta=tests.runs.graphs:delta"
ENDED = {"success", "error", "timeout", "interrupted"}


class Trial:
    """One folder that is served, killed and served again."""

    def __init__(self, folder: Path, seed: int, clients: int) -> None:
        self._folder, self._chance = folder, random.Random(seed)
        self.hands = [Hand(f"c{number}", seed + number, ("chat", "delta")) for number in range(clients)]
        self.served: Served | None = None

    def kills(self, number: int, told: Callable[[str], None]) -> None:
        """Serve, work, kill and look, so many times; raises Unexpected or AssertionError for a broken promise."""
        for count in range(1, number + 1):
            answered = self._round()
            told(f"kill {count}: {answered} answers so far, {sum(len(hand.known) for hand in self.hands)} threads")
        self._start()
        self.look()
        assert self.served is not None and self.served.end() == 0

    def _start(self) -> Served:
        self.served = Served(self._folder, graphs=GRAPHS, run_concurrency=4)
        return self.served

    def _round(self) -> int:
        served = self._start()
        self.look()
        dead, failures = threading.Event(), list[BaseException]()

        def work(hand: Hand) -> None:
            try:
                hand.work(served.url, dead.is_set)
            except Unexpected as error:
                failures.append(error)

        workers = [threading.Thread(target=work, args=(hand,)) for hand in self.hands]
        for worker in workers:
            worker.start()
        enough = self._answered() + self._chance.randrange(60)
        until(lambda: self._answered() >= enough or failures)
        time.sleep(self._chance.uniform(0, 0.1))  # the moment of the kill is what is tried
        for pid in served.everybody():
            os.kill(pid, signal.SIGKILL)
        dead.set()
        for worker in workers:
            worker.join()
        served.ended()
        for failure in failures:
            raise failure
        return self._answered()

    def _answered(self) -> int:
        return sum(hand.answered for hand in self.hands)

    def look(self) -> None:
        """Hold what the service shows against what was acknowledged."""
        assert self.served is not None
        look = Look(self.served)
        until(lambda: look.ask("/threads/count", {"status": "busy"}) == 0)
        shown = look.threads()
        branches = sum(hand.doubt is not None and hand.doubt[0] == "branch" for hand in self.hands)
        for hand in self.hands:
            look.settle(hand, shown)
            for thread_id, known in hand.known.items():
                look.promises(thread_id, known, shown.pop(thread_id, None))
        assert len(shown) <= branches, sorted(shown)
        for thread_id, row in shown.items():
            source = row["metadata"]["branch_parent_thread_id"]
            [maker] = [hand for hand in self.hands if hand.doubt and hand.doubt[:2] == ("branch", source)]
            maker.known[thread_id] = Known(row["metadata"]["graph_id"])
            look.promises(thread_id, maker.known[thread_id], row)
        for hand in self.hands:
            hand.doubt = None
        doctored(self._folder)


def doctored(folder: Path) -> None:
    """Let the doctor find nothing."""
    gateway = Gateway.open(Config(instance=folder, graphs=GRAPHS), executing=False)
    found = gateway.doctor.examine()
    gateway.close()
    assert (found.damage, found.findings) == (None, []), found


class Look:
    """Reads a service after its start."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def ask(self, path: str, body: Any = None) -> Any:
        return self._served.ask(path, body)

    def threads(self) -> dict[str, Any]:
        rows = self.ask("/threads/search", {"limit": 1000, "select": ["thread_id", "metadata", "status"]})
        return {row["thread_id"]: row for row in rows}

    def settle(self, hand: Hand, shown: dict[str, Any]) -> None:
        """Learn what became of the operation that was not answered."""
        if hand.doubt is None:
            return
        verb, thread_id, key = hand.doubt
        known = hand.known.get(thread_id)
        if verb == "create" and thread_id in shown:
            hand.known[thread_id] = Known("chat")
        elif verb == "delete" and thread_id not in shown:
            hand.known.pop(thread_id, None)
        elif verb == "patch" and known is not None and key in shown[thread_id]["metadata"]:
            known.keys.add(key)
        elif verb == "archive" and known is not None:
            known.archived = shown[thread_id]["metadata"].get("deerflow_archived", False)

    def promises(self, thread_id: str, known: Known, row: Any) -> None:
        """Check one thread against all that was acknowledged of it."""
        assert row is not None, f"{thread_id} is gone"
        assert row["status"] != "busy"
        assert known.keys <= set(row["metadata"]), (thread_id, known.keys - set(row["metadata"]))
        assert row["metadata"].get("deerflow_archived", False) is known.archived, thread_id
        tree = self.ask(f"/threads/{thread_id}/tree")
        asked = {message_id for turn in tree["turns"] for message_id in turn["message_ids"]}
        assert tree["broken"] == [] and known.asked <= asked, (thread_id, known.asked - asked)
        assert all(turn["status"] != "running" for turn in tree["turns"])
        for run_id in known.runs:
            assert self.ask(f"/threads/{thread_id}/runs/{run_id}")["status"] in ENDED
        state = self.ask(f"/threads/{thread_id}/state")
        if row["metadata"].get("deerflow_branch"):
            history = self.ask(f"/threads/{thread_id}/history", {"limit": 1000})
            assert len(history) >= 2 and state["values"]["messages"], f"{thread_id} is half a branch"
