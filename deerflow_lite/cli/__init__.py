"""The command line: serves, and looks after threads beside a running service; it holds no rule of its own.

Invariants: exit 0 when done, 1 when refused or not found, 2 when the command or a setting is wrong; an error is one
line on stderr; with --json stdout is JSON and nothing else; nothing is written until every id given is known.
"""

import os
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from deerflow_lite.cli.backup import backup
from deerflow_lite.cli.branching import branch, convert
from deerflow_lite.cli.doctor import doctor
from deerflow_lite.cli.options import instance_option, json_option
from deerflow_lite.cli.prune import prune
from deerflow_lite.cli.threads import threads
from deerflow_lite.cli.token import token
from deerflow_lite.cli.tree import tree
from deerflow_lite.config import load_config
from deerflow_lite.errors import DeerflowError, SettingInvalid

PROGRAM = "deerflow-lite"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit; every error is told in one line."""
    try:
        code = program.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = error.exit_code
    except click.ClickException as error:
        code = _told(error.format_message(), error.exit_code)
    except click.Abort:
        code = _told("given up", 1)
    except DeerflowError as error:
        code = _told(error.detail, 2 if isinstance(error, SettingInvalid) else 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (OSError, sqlite3.Error) as error:
        code = _told(str(error), 1)
    sys.exit(code)


def _told(sentence: str, code: int) -> int:
    click.echo(f"{PROGRAM}: {' '.join(sentence.split())}", err=True)
    return code


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from deerflow_lite.web.meta import version

        click.echo(f"{PROGRAM} {version(PROGRAM)}")
        context.exit()


@click.group()
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@instance_option
@json_option
def program() -> None:
    """DeerFlow Lite: the conversations of LangGraph agents, kept on one machine."""


@program.command()
@click.option("--host", help="Address to listen on; goes over DEERFLOW_LITE_HOST.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port, 0 for any free one; goes over DEERFLOW_LITE_PORT.")
@instance_option
@click.pass_obj
def serve(kept: dict[str, Any], host: str | None, port: int | None) -> int:
    """Serve the API and the pages until Ctrl+C."""
    from deerflow_lite.server import serve as start

    return start(load_config(os.environ, host=host, port=port, instance=kept.get("instance")))


threads.add_command(branch)
threads.add_command(convert)
threads.add_command(tree)
program.add_command(threads)
program.add_command(token)
program.add_command(doctor)
program.add_command(backup)
program.add_command(prune)
