"""What the service says of itself: that it is up, its version, its models; it asks no thread."""

from importlib import metadata
from typing import Any

from marshmallow import Schema, fields

from deerflow_lite.web.contract import Call, Example, Routes
from deerflow_lite.web.schemas.fields import JsonObject

routes = Routes("Service", "What the service says of itself")
OFFLINE = "Offline demonstration"


def version(distribution: str) -> str:
    """Give the version of an installed distribution, `unknown` where it runs from a bare folder."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


class OkAnswer(Schema):
    """The service answers."""

    ok = fields.Boolean()


class InfoAnswer(Schema):
    """Versions, and which parts of LangGraph's API are served."""

    version = fields.String()
    langgraph_py_version = fields.String()
    flags = JsonObject()
    host = JsonObject()


class ModelsAnswer(Schema):
    """The models that a run may be sent to."""

    models = fields.List(JsonObject())
    token_usage = JsonObject()


@routes.route("GET", "/ok", answer=OkAnswer, example=Example({"ok": True}))
def ok(call: Call) -> dict[str, Any]:
    """Say that the service is up."""
    return {"ok": True}


@routes.route("GET", "/info", answer=InfoAnswer)
def info(call: Call) -> dict[str, Any]:
    """Give versions, and which parts of LangGraph's API are served."""
    return {
        "version": version("deerflow-lite"),
        "langgraph_py_version": version("langgraph"),
        "flags": {"assistants": True, "crons": False, "langsmith": False},
        "host": {"kind": "self-hosted"},
    }


@routes.route("GET", "/models", answer=ModelsAnswer)
def models(call: Call) -> dict[str, Any]:
    """List the models that a run may be sent to."""
    provider, _, named = call.gateway.config.model.partition(":")
    offline = not named
    model = {
        "name": named or provider,
        "model": call.gateway.config.model,
        "display_name": OFFLINE if offline else named,
        "description": "Answers without a key and without a network." if offline else f"{named} of {provider}",
        "supports_thinking": False,
        "supports_reasoning_effort": False,
    }
    return {"models": [model], "token_usage": {"enabled": False}}
