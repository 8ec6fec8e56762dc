"""Waiting for the machine to be quiet; a noisy one is measured all the same, and told."""

import os
import time

LOAD = 1.0
PATIENCE_SECONDS = 60
LOOK_SECONDS = 5


def wait() -> None:
    """Wait until the load of the last minute is below LOAD, for at most PATIENCE_SECONDS."""
    until = time.monotonic() + PATIENCE_SECONDS
    if load() >= LOAD:
        print(f"load {load():.2f}: waiting up to {PATIENCE_SECONDS} s for less than {LOAD}", flush=True)
    while load() >= LOAD and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    print(f"load {load():.2f}" + (": noisy, others are at work here" if load() >= LOAD else ""), flush=True)


def load() -> float:
    """Give the load of the last minute."""
    return os.getloadavg()[0]
