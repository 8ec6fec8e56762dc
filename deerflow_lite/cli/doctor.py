"""The verb `doctor`: tells what is wrong in the file and, when told to, adopts checkpoints; the rules are upkeep's."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import with_gateway

if TYPE_CHECKING:
    from deerflow_lite.gateway import Gateway
    from deerflow_lite.upkeep.adopt import Adoption
    from deerflow_lite.upkeep.doctor import Examined


@click.command()
@click.option("--adopt", is_flag=True, help="Give checkpoints of no thread a thread; without --yes only say so.")
@click.option("--yes", is_flag=True, help="Do it.")
@with_gateway
def doctor(gateway: "Gateway", as_json: bool, adopt: bool, yes: bool) -> None:
    """Check the lineage of every thread; exit code 1 when something is wrong."""
    if yes and not adopt:
        raise click.UsageError("--yes goes with --adopt")
    adoptions = _adoptions(gateway, yes) if adopt else []
    found = gateway.doctor.examine()
    if as_json:
        findings = [asdict(one) | {"advice": one.advice} for one in found.findings]
        told: dict[str, Any] = {"threads": found.threads, "checkpoints": found.checkpoints, "findings": findings}
        if adopt:
            told["adopted" if yes else "would_adopt"] = [asdict(one) for one in adoptions]
        output.print_json(told)
    else:
        _print(found, adoptions, yes)
    if found.findings:
        click.get_current_context().exit(1)


def _adoptions(gateway: "Gateway", yes: bool) -> list["Adoption"]:
    orphans = [one.thread_id for one in gateway.doctor.examine().findings if one.reason == "orphan"]
    return [gateway.adopting.adopt(one) if yes else gateway.adopting.plan(one) for one in orphans]


def _print(found: "Examined", adoptions: Sequence["Adoption"], done: bool) -> None:
    for one in adoptions:
        if one.refusal is not None:
            click.echo(f"{one.thread_id}: cannot be adopted: {one.refusal}")
        else:
            click.echo(f"{one.thread_id}: {'adopted' if done else 'would be adopted'} with the head {one.head}")
            if one.note is not None:
                click.echo(f"{one.thread_id}: its values cannot be shown: {one.note}")
    if adoptions and not done:
        click.echo("Nothing was written; --yes does it.")
    for finding in found.findings:
        place = finding.thread_id if finding.checkpoint_id is None else f"{finding.thread_id} {finding.checkpoint_id}"
        click.echo(f"{place}: {finding.reason}: {finding.advice}")
    state = f"{len(found.findings)} found" if found.findings else "nothing is wrong"
    click.echo(f"{found.threads} threads, {found.checkpoints} checkpoints: {state}.")
