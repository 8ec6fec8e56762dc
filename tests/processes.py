"""The service as its users start it: processes of `python -m deerflow_lite`; it looks into none of their memory."""

import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DEADLINE = 60.0


def environ(settings: Mapping[str, Any]) -> dict[str, str]:
    """Give an environment with these settings and no others."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("DEERFLOW_LITE_")}
    return kept | {f"DEERFLOW_LITE_{name.upper()}": str(value) for name, value in settings.items()}


def command(*arguments: str, stdin: str | None = None, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "deerflow_lite", *arguments], cwd=ROOT, env=environ(settings), input=stdin or "",
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip


class Served:
    """One `deerflow-lite serve`, up once its first line was read."""

    def __init__(self, instance: Path, **settings: Any) -> None:
        start = [sys.executable, "-m", "deerflow_lite", "serve", "--instance", str(instance)]
        told, shown = instance.parent / "stderr.txt", {"port": 0} | settings
        with told.open("w") as stderr:
            self.process = subprocess.Popen(start, cwd=ROOT, env=environ(shown), stdout=subprocess.PIPE, stderr=stderr)
        self.url = self.line()
        assert self.url.startswith("http://"), told.read_text()

    def line(self) -> str:
        """Read one line of stdout, "" at its end."""
        assert self.process.stdout is not None
        line, end = b"", time.monotonic() + DEADLINE
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            assert ready, f"nothing came after {line!r}"
            letter = os.read(self.process.stdout.fileno(), 1)
            if not letter:
                break
            line += letter
        return line.decode().rstrip("\n")

    def ask(self, path: str, body: Any = None) -> Any:
        """Ask the service and give its JSON; a body makes it a POST."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.url + path, data, timeout=DEADLINE) as answer:
            return json.load(answer)

    def everybody(self) -> list[int]:
        """Give the ids of the process that was started and of its workers."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal to the process that was started and give its exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for the process that was started and give its exit code."""
        code = self.process.wait(DEADLINE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code
