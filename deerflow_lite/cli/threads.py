"""The verbs of `deerflow-lite threads`; they work on every owner's threads, for who may read the file may do so.

Invariant: an id or its beginning names exactly one thread, or the command is refused before it writes.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import instance_option, json_option, with_gateway
from deerflow_lite.errors import NotFound, ThreadUnknown
from deerflow_lite.threads import filters, flags, titles
from deerflow_lite.threads.limits import valid_id
from deerflow_lite.threads.model import Change, Page, Thread
from deerflow_lite.threads.prefix import IdBegins

if TYPE_CHECKING:
    from deerflow_lite.gateway import Gateway

MATCHES_NAMED = 4
IDS = click.argument("ids", nargs=-1, required=True, metavar="ID...")
LIMIT = click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Threads at most.")


class IdAmbiguous(NotFound):
    """More than one thread begins with what was given as an id."""


@click.group()
@instance_option
@json_option
def threads() -> None:
    """Look after threads. An ID may be any beginning that one thread alone has; `-` reads ids from stdin."""


@threads.command("list")
@click.option("--archived", "which", flag_value="archived", help="Only archived threads.")
@click.option("--all", "which", flag_value="all", help="Archived threads too.")
@LIMIT
@with_gateway
def list_(gateway: "Gateway", as_json: bool, which: str | None, limit: int) -> None:
    """List threads that are not archived: pinned first, then the newest."""
    clauses = [] if which == "all" else [flags.archived_clause(which == "archived")]
    output.print_found(gateway.threads.search(None, clauses, Page(limit=limit)), as_json)


@threads.command()
@click.argument("text")
@LIMIT
@with_gateway
def search(gateway: "Gateway", as_json: bool, text: str, limit: int) -> None:
    """Find threads by a part of the title, whatever its case; archived ones too."""
    output.print_found(gateway.threads.search(None, filters.parse_title(text), Page(limit=limit)), as_json)


@threads.command()
@click.argument("thread", metavar="ID")
@with_gateway
def show(gateway: "Gateway", as_json: bool, thread: str) -> None:
    """Show one thread and its last messages."""
    [found] = _found(gateway, [thread])
    output.print_thread(found, gateway.threads.values([found]).get(found.row), as_json)


@threads.command()
@click.argument("thread", metavar="ID")
@click.argument("title")
@with_gateway
def rename(gateway: "Gateway", as_json: bool, thread: str, title: str) -> None:
    """Give a thread a title of your own; "" gives it back to the service."""
    [found] = _found(gateway, [thread])
    if title:
        renamed = gateway.threads.change(None, found.thread_id, Change(title=titles.clean_title(title)))
    else:
        renamed = gateway.naming.give_back(None, found.thread_id, Change())
    output.print_threads([renamed], as_json)


@threads.command()
@IDS
@with_gateway
def pin(gateway: "Gateway", as_json: bool, ids: Sequence[str]) -> None:
    """Keep threads at the top of the list."""
    _set_pin(gateway, as_json, ids, True)


@threads.command()
@IDS
@with_gateway
def unpin(gateway: "Gateway", as_json: bool, ids: Sequence[str]) -> None:
    """Let threads stand where their time puts them."""
    _set_pin(gateway, as_json, ids, False)


@threads.command()
@IDS
@with_gateway
def archive(gateway: "Gateway", as_json: bool, ids: Sequence[str]) -> None:
    """Move threads out of the list; nothing else about them changes."""
    _set_archive(gateway, as_json, ids, True)


@threads.command()
@IDS
@with_gateway
def restore(gateway: "Gateway", as_json: bool, ids: Sequence[str]) -> None:
    """Move archived threads back to their place in the list."""
    _set_archive(gateway, as_json, ids, False)


@threads.command()
@IDS
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_gateway
def delete(gateway: "Gateway", as_json: bool, ids: Sequence[str], yes: bool) -> None:
    """Delete threads with everything that belongs to them, for good."""
    found = _found(gateway, ids)
    if not yes:
        _agreed(found)
    for thread in found:
        gateway.deleting.delete(None, thread.thread_id)
    if as_json:
        return output.print_json({"deleted": [thread.thread_id for thread in found]})
    for thread in found:
        click.echo(f"deleted {thread.thread_id}")


def _set_pin(gateway: "Gateway", as_json: bool, ids: Sequence[str], pinned: bool) -> None:
    found = _found(gateway, ids)
    change = Change(metadata={flags.PINNED: pinned}, touch=flags.touching([flags.PINNED]))
    with gateway.db.writing():
        changed = [gateway.threads.change(None, thread.thread_id, change) for thread in found]
    output.print_threads(changed, as_json)


def _set_archive(gateway: "Gateway", as_json: bool, ids: Sequence[str], archived: bool) -> None:
    found = [thread.thread_id for thread in _found(gateway, ids)]
    gateway.threads.archive(None, found, None, archived, False)
    output.print_threads([gateway.threads.get(None, thread_id) for thread_id in found], as_json)


def _agreed(found: Sequence[Thread]) -> None:
    """Ask before something is lost; raises UsageError where nobody can answer, Abort for no."""
    if not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here: give --yes to delete")
    named = ", ".join(str(thread.title or thread.thread_id) for thread in found[:MATCHES_NAMED])
    more = f" and {len(found) - MATCHES_NAMED} more" if len(found) > MATCHES_NAMED else ""
    click.confirm(f"Delete {named}{more} for good?", abort=True, err=True)


def _found(gateway: "Gateway", given: Sequence[str]) -> list[Thread]:
    """Give the thread behind each id, each once; raises ThreadUnknown or IdAmbiguous for the first that has none."""
    return list({thread.row: thread for thread in (one_thread(gateway, text) for text in _texts(given))}.values())


def _texts(given: Sequence[str]) -> Iterator[str]:
    for text in given:
        if text == "-":
            yield from sys.stdin.read().split()
        else:
            yield text


def one_thread(gateway: "Gateway", text: str) -> Thread:
    """Give the thread of an id or of the beginning that it alone has; raises ThreadUnknown, IdAmbiguous."""
    if not valid_id(text):
        raise ThreadUnknown(text)
    if gateway.threads.owned(None, text):
        return gateway.threads.get(None, text)
    found = gateway.threads.search(None, [IdBegins(text)], Page(limit=MATCHES_NAMED))
    if not found.threads:
        raise ThreadUnknown(text)
    if len(found.threads) > 1:
        named = ", ".join(thread.thread_id for thread in found.threads)
        raise IdAmbiguous(f"{text} begins more than one id: {named}{', …' if found.more else ''}")
    return found.threads[0]
