"""The verbs on what a thread is made of: branch it, convert it; each asks the lifecycle and prints its answer."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import with_gateway
from deerflow_lite.cli.threads import one_thread

if TYPE_CHECKING:
    from deerflow_lite.checkpoints.modes import Mode
    from deerflow_lite.gateway import Gateway


@click.command()
@click.argument("thread", metavar="ID")
@click.option("--message", "message_id", required=True, metavar="MESSAGE_ID", help="The last answer of the turn.")
@click.option("--title", help="Title of the new thread; the source's unless given.")
@with_gateway
def branch(gateway: "Gateway", as_json: bool, thread: str, message_id: str, title: str | None) -> None:
    """Make a thread that goes on from an answered turn of this one."""
    made = gateway.branching.branch(None, one_thread(gateway, thread).thread_id, message_id, title=title)
    if as_json:
        return output.print_json(made.as_json())
    click.echo(made.thread_id)


@click.command()
@click.argument("thread", metavar="ID")
@click.option("--to", type=click.Choice(["full", "delta"]), required=True, help="The mode of the graph to read it.")
@with_gateway
def convert(gateway: "Gateway", as_json: bool, thread: str, to: "Mode") -> None:
    """Rewrite a thread's checkpoints so that a graph of the other mode reads them; all of them or none."""
    done = gateway.converting.convert(None, one_thread(gateway, thread).thread_id, to)
    if as_json:
        return output.print_json(asdict(done))
    if to == "delta":
        click.echo(f"{done.thread_id}: a delta graph reads its {done.checkpoints} checkpoints as they are")
    else:
        click.echo(f"{done.thread_id}: {done.rewritten} of {done.checkpoints} checkpoints rewritten")
