"""DeerFlow Lite: the conversations of LangGraph agents, kept on one machine.

Importing the package imports no Flask: a room can be used without the web.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from deerflow_lite.config import Config
    from deerflow_lite.gateway import Gateway


def create_app(config: "Config | None" = None, gateway: "Gateway | None" = None) -> "Flask":
    """Make the WSGI application; `app.extensions["deerflow_lite"]` is its Gateway.

    Settings are read from the environment where no `config` is given; a `gateway` that is handed in stays the caller's.
    Raises SettingInvalid.
    """
    import os

    from deerflow_lite.config import load_config
    from deerflow_lite.gateway import Gateway
    from deerflow_lite.web.app import make_app

    if gateway is None:
        gateway = Gateway.open(config or load_config(os.environ))
    return make_app(gateway)
