"""A service without a socket: the real application over real stores, in a folder of the test's own."""

from collections.abc import Callable, Iterator
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


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Flask]]:
    """Make applications with settings; each is closed after the test."""
    made: list[Flask] = []

    def make_one(**settings: Any) -> Flask:
        app = create_app(Config(**({"instance": tmp_path / str(len(made))} | settings)))
        made.append(app)
        return app

    yield make_one
    for app in made:
        app.extensions["deerflow_lite"].stop(grace=0)
        app.extensions["deerflow_lite"].close()


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
