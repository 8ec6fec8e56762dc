"""What the tests of this room share: files of stored conversations, each opened in a folder of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.lifecycle.stored import Stored, opened

Open = Callable[..., Stored]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Open]:
    """Open a copy of a stored file, or an empty one, with settings."""
    folders = (tmp_path / f"stored-{number}" for number in count())
    with ExitStack() as stack:
        yield lambda fixture=None, **settings: stack.enter_context(
            contextmanager(opened)(next(folders), fixture, **settings)
        )
