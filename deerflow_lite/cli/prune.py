"""The verb `prune`: says what no turn needs and, when told to, takes it out and gives the space back."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import with_gateway
from deerflow_lite.cli.threads import one_thread
from deerflow_lite.errors import Conflict, ThreadUnknown

if TYPE_CHECKING:
    from deerflow_lite.gateway import Gateway
    from deerflow_lite.upkeep.prune import Pruned


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--yes", is_flag=True, help="Do it.")
@with_gateway
def prune(gateway: "Gateway", as_json: bool, ids: Sequence[str], yes: bool) -> None:
    """Take out checkpoints that no head and no turn's base needs, of these threads or of all; without --yes say so."""
    chosen = [one_thread(gateway, text).thread_id for text in ids] or [*_all(gateway)]
    before = sum(gateway.db.sizes().values())
    refused: dict[str, str] = {}
    done = [found for thread_id in chosen if (found := _pruned(gateway, thread_id, yes, refused)) is not None]
    if yes:
        gateway.db.give_back()
    after = sum(gateway.db.sizes().values())
    if as_json:
        told = {"threads": [asdict(one) for one in done], "refused": refused, "bytes_before": before}
        output.print_json(told | {"pruned": yes, "bytes_after": after})
    else:
        _print(done, refused, yes)
        if yes:
            click.echo(f"{output.counted(before, 'byte')} before, {output.counted(after, 'byte')} now.")
    if refused:
        click.get_current_context().exit(1)


def _all(gateway: "Gateway") -> Iterator[str]:
    return (thread.thread_id for thread in gateway.doctor.threads())


def _pruned(gateway: "Gateway", thread_id: str, yes: bool, refused: dict[str, str]) -> "Pruned | None":
    pruning = gateway.pruning
    try:
        return pruning.prune(None, thread_id) if yes else pruning.plan(None, thread_id)
    except ThreadUnknown:
        return None  # deleted meanwhile
    except Conflict as error:
        refused[thread_id] = error.detail
        return None


def _print(done: "Sequence[Pruned]", refused: dict[str, str], yes: bool) -> None:
    for one in done:
        if one.removed:
            count = output.counted(one.checkpoints, "checkpoint")
            click.echo(f"{one.thread_id}: {one.removed} of {count} {'removed' if yes else 'would be removed'}")
    for thread_id, reason in refused.items():
        click.echo(f"{thread_id}: left as it is: {reason}")
    total = output.counted(sum(one.removed for one in done), "checkpoint")
    click.echo(f"{output.counted(len(done), 'thread')}: {total} {'removed' if yes else 'would be removed'}.")
    if not yes:
        click.echo("Nothing was written; --yes does it.")
