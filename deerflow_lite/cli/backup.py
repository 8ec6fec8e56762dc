"""The verb `backup`: a copy of the file as it stands; it opens no room and brings no file to a newer form."""

from pathlib import Path
from typing import Any

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import instance_option, json_option, stored
from deerflow_lite.db import file
from deerflow_lite.errors import FileRefused


@click.command()
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@instance_option
@json_option
@click.pass_obj
def backup(kept: dict[str, Any], target: Path) -> None:
    """Copy the database into FILE, which must not exist; a running service goes on meanwhile."""
    source = stored(kept["instance"]).database
    if target.exists():
        raise FileRefused(f"{target} exists already")
    size = file.copy(source, target)
    if kept["json"]:
        return output.print_json({"file": str(target), "bytes": size})
    click.echo(f"{target}: {output.counted(size, 'byte')}")
