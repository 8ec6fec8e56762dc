"""python -m tests.soak: kill the service again and again, then use it for a long time; exit 1 where a promise broke."""

import argparse
import random
import signal
import tempfile
from pathlib import Path

from tests.soak.crash import Trial
from tests.soak.steady import steady


def main() -> None:
    """Try what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="kills at random moments (200)")
    parser.add_argument("--minutes", type=float, default=20, help="minutes of use afterwards (20)")
    parser.add_argument("--clients", type=int, default=8, help="clients at the same time (8)")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**6), help="of everything that is left to chance"
    )
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="deerflow-soak-", ignore_cleanup_errors=True) as outer:
        if asked.kills:
            kill(Path(outer) / "killed" / "home", asked)
        if asked.minutes:
            (Path(outer) / "used").mkdir()
            steady(Path(outer) / "used" / "home", asked.seed, asked.clients, asked.minutes * 60, say)
    say("every promise was kept")


def kill(folder: Path, asked: argparse.Namespace) -> None:
    """Kill as often as was asked; what still runs after a failure is ended."""
    folder.parent.mkdir()
    trial = Trial(folder, asked.seed, asked.clients)
    try:
        trial.kills(asked.kills, say)
    finally:
        if trial.served is not None and trial.served.process.poll() is None:
            trial.served.end(signal.SIGKILL)


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
