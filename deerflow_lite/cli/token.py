"""The verbs of `deerflow-lite token`: who may call a service with AUTH=tokens; what a token is, accounts knows.

Invariant: the text of a token is printed once, when it is made, alone on stdout.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import StoreElsewhere, instance_option, json_option
from deerflow_lite.config import load_config

if TYPE_CHECKING:
    from deerflow_lite.accounts import Accounts, Token

MOST_DAYS = 36_500


@contextmanager
def opened(instance: Path | None) -> Iterator["Accounts"]:
    """Open the tokens of a folder, made where it is new; raises SettingInvalid, StoreElsewhere."""
    from deerflow_lite.gateway import open_accounts

    config = load_config(os.environ, instance=instance)
    if config.store == "memory" and not config.database.exists():
        raise StoreElsewhere("STORE is memory: tokens live as long as the service, which does not run")
    with open_accounts(config) as accounts:
        yield accounts


def with_accounts(command: Callable[..., None]) -> Callable[..., None]:
    """Hand a command the tokens and whether JSON is wanted, before its own arguments."""

    @instance_option
    @json_option
    @click.pass_obj
    def run(kept: dict[str, Any], /, **given: Any) -> None:
        with opened(kept["instance"]) as accounts:
            command(accounts, kept["json"], **given)

    return update_wrapper(run, command, updated=())


@click.group()
@instance_option
@json_option
def token() -> None:
    """Look after the tokens that open a service with AUTH=tokens; it need not run, and hears at once."""


@token.command()
@click.argument("name")
@click.option("--owner", help="Whose chats it opens, by default NAME's; `default` has those made without tokens.")
@click.option("--expires", "days", type=click.IntRange(1, MOST_DAYS), help="Days until it ends by itself.")
@with_accounts
def create(accounts: "Accounts", as_json: bool, name: str, owner: str | None, days: int | None) -> None:
    """Make a token and print it, this once."""
    made, text = accounts.create(name, owner, days)
    if as_json:
        return output.print_json({"token": text} | asdict(made))
    click.echo(text)
    until = "" if made.expires_at is None else f" until {output.minute(made.expires_at)} UTC"
    click.echo(f"It opens the chats of {made.owner}{until} and is shown this once; keep it like a password.", err=True)


@token.command("list")
@with_accounts
def list_(accounts: "Accounts", as_json: bool) -> None:
    """List every token that was made, without its text."""
    found = accounts.listed()
    if as_json:
        return output.print_json([asdict(one) for one in found])
    if not found:
        return click.echo("There is no token.")
    rows = [(one.token_id, one.name, one.owner, output.minute(one.created_at), _state(one)) for one in found]
    output.print_table(("ID", "NAME", "OWNER", "CREATED (UTC)", "STATE"), rows)


@token.command()
@click.argument("token", metavar="ID")
@with_accounts
def revoke(accounts: "Accounts", as_json: bool, token: str) -> None:
    """End a token and the sessions made with it; ID may be any beginning that one token alone has."""
    ended = accounts.revoke(token)
    if as_json:
        return output.print_json(asdict(ended))
    click.echo(f"revoked {ended.token_id} ({ended.name})")


def _state(token: "Token") -> str:
    from deerflow_lite.accounts import live

    if token.revoked_at is not None:
        return f"revoked {output.minute(token.revoked_at)}"
    if token.expires_at is None:
        return "valid"
    return f"{'valid until' if live(token) else 'expired'} {output.minute(token.expires_at)}"
