"""A service without a socket: the real application over real stores, in a folder of the test's own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deerflow_lite import create_app
from deerflow_lite.config import Config


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def making(folder: Path) -> Iterator[Callable[..., Flask]]:
    """Lend what makes applications with settings; each is closed at the end."""
    made: list[Flask] = []

    def make_one(**settings: Any) -> Flask:
        app = create_app(Config(**({"instance": folder / str(len(made))} | settings)))
        made.append(app)
        return app

    yield make_one
    for app in made:
        app.extensions["deerflow_lite"].stop(grace=0)
        app.extensions["deerflow_lite"].close()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Flask]]:
    """Make applications with settings; each is closed after the test."""
    with making(tmp_path) as make_one:
        yield make_one


@pytest.fixture(scope="module", params=["sqlite", "memory"])
def lasting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """One client over each store for all tests of a module, for those that leave everything as it was."""
    with making(tmp_path_factory.mktemp("lasting")) as make_one:
        yield make_one(store=request.param).test_client()


@pytest.fixture
def app(make: Callable[..., Flask]) -> Flask:
    return make()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def both(make: Callable[..., Flask], store: str) -> FlaskClient:
    """The same client over each store."""
    return make(store=store).test_client()
