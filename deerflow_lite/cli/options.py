"""What the commands share: the options that stand before or after a verb, and the open service; it prints nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deerflow_lite.config import Config, load_config
from deerflow_lite.errors import DeerflowError

if TYPE_CHECKING:
    from deerflow_lite.gateway import Gateway


class StoreElsewhere(DeerflowError):
    """The threads live in the memory of the service."""


def _keep_instance(context: click.Context, _: click.Parameter, instance: Path | None) -> None:
    kept = context.ensure_object(dict)
    kept["instance"] = instance or kept.get("instance")


def _keep_json(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    kept = context.ensure_object(dict)
    kept["json"] = wanted or kept.get("json", False)


instance_option = click.option(
    "--instance", type=click.Path(path_type=Path), callback=_keep_instance, expose_value=False,
    help="Data folder; goes over DEERFLOW_LITE_INSTANCE.",
)  # fmt: skip
json_option = click.option(
    "--json", is_flag=True, callback=_keep_json, expose_value=False, help="Print JSON instead of a table."
)


def stored(instance: Path | None) -> Config:
    """Give the settings of a folder that has a database; raises SettingInvalid, StoreElsewhere."""
    config = load_config(os.environ, instance=instance)
    if config.store == "memory":
        raise StoreElsewhere("STORE is memory: the threads live in the service alone, out of the command line's reach")
    if not config.database.exists():
        raise StoreElsewhere(f"{config.database} does not exist; `deerflow-lite serve` makes it")
    return config


@contextmanager
def opened(instance: Path | None) -> Iterator["Gateway"]:
    """Open the service for a moment, without executing runs; raises SettingInvalid, StoreElsewhere."""
    from deerflow_lite.gateway import Gateway

    with closing(Gateway.open(stored(instance), executing=False)) as gateway:
        yield gateway


def with_gateway(command: Callable[..., None]) -> Callable[..., None]:
    """Hand a command the open service and whether JSON is wanted, before its own arguments."""

    @instance_option
    @json_option
    @click.pass_obj
    def run(kept: dict[str, Any], /, **given: Any) -> None:
        with opened(kept["instance"]) as gateway:
            command(gateway, kept["json"], **given)

    return update_wrapper(run, command, updated=())
