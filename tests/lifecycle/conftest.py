"""What the tests of this room share: files of stored conversations, and services that whole modules ask."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deerflow_lite import create_app
from deerflow_lite.config import Config
from deerflow_lite.gateway import Gateway
from tests.lifecycle.stored import Stored, opened
from tests.runs import gates
from tests.service import Service

Open = Callable[..., Stored]
Shared = Callable[..., Service]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Open]:
    """Open a copy of a stored file, or an empty one, with settings."""
    folders = (tmp_path / f"stored-{number}" for number in count())
    with ExitStack() as stack:
        yield lambda fixture=None, **settings: stack.enter_context(
            contextmanager(opened)(next(folders), fixture, **settings)
        )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Give the service with these settings, started once a module: its tests only add threads of their own."""
    made: dict[str, Service] = {}

    def one(**settings: Any) -> Service:
        key = repr(sorted(settings.items()))
        if key not in made:
            gateway = Gateway.open(Config(instance=tmp_path_factory.mktemp("shared"), **settings))
            made[key] = Service(create_app(gateway=gateway))
            gateway.start()
        return made[key]

    yield one
    gates.open_all()
    for service in made.values():
        service.gateway.stop(0)
        service.gateway.close()
