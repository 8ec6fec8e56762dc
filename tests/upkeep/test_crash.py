"""The service killed at random moments, as `make soak` does it for longer; the seed of a failure is printed."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak.crash import Trial
from tests.soak.steady import steady

SEED = 20_261


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    print(f"seed {SEED}")
    made = Trial(tmp_path / "instance", SEED, clients=3)
    yield made
    if made.served is not None and made.served.process.poll() is None:
        made.served.end(signal.SIGKILL)


def test_a_service_killed_at_any_moment_keeps_what_it_acknowledged_and_shows_nothing_half_made(trial: Trial) -> None:
    trial.kills(5, print)
    assert sum(hand.answered for hand in trial.hands) > 20


def test_clients_that_do_everything_at_once_and_leave_streams_meet_no_failure(tmp_path: Path) -> None:
    told: list[str] = []
    steady(tmp_path / "instance", SEED, 4, 4.0, told.append)
    assert int(told[0].split()[0]) > 20
