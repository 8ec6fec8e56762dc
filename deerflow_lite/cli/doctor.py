"""The verb `doctor`: tells what is wrong in the file and, when told to, adopts and repairs; the rules are upkeep's."""

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
    from deerflow_lite.upkeep.finding import Finding


@click.command()
@click.option("--adopt", is_flag=True, help="Give checkpoints of no thread a thread; without --yes only say so.")
@click.option("--repair", is_flag=True, help="Remove leftovers, free threads that are busy with nothing; likewise.")
@click.option("--yes", is_flag=True, help="Do it.")
@with_gateway
def doctor(gateway: "Gateway", as_json: bool, adopt: bool, repair: bool, yes: bool) -> None:
    """Check the file and every thread in it; exit code 1 when something is wrong."""
    if yes and not (adopt or repair):
        raise click.UsageError("--yes goes with --adopt or --repair")
    adoptions = _adoptions(gateway, yes) if adopt else []
    repairs = _repairs(gateway, yes) if repair else []
    found = gateway.doctor.examine()
    if as_json:
        told: dict[str, Any] = {"threads": found.threads, "checkpoints": found.checkpoints, "damage": found.damage}
        told["findings"] = [_shown(one) for one in found.findings]
        if adopt:
            told["adopted" if yes else "would_adopt"] = [asdict(one) for one in adoptions]
        if repair:
            told["repaired" if yes else "would_repair"] = [_shown(one) for one in repairs]
        output.print_json(told)
    else:
        _print_adoptions(adoptions, yes)
        _print(found, repairs, yes)
    if found.findings or found.damage:
        click.get_current_context().exit(1)


def _adoptions(gateway: "Gateway", yes: bool) -> list["Adoption"]:
    orphans = [one.thread_id for one in gateway.doctor.examine().findings if one.reason == "orphan"]
    return [gateway.adopting.adopt(one) if yes else gateway.adopting.plan(one) for one in orphans]


def _repairs(gateway: "Gateway", yes: bool) -> list["Finding"]:
    if yes:
        return gateway.repairing.repair()
    with gateway.db.reading() as connection:
        return [*gateway.repairing.findings(connection)]


def _shown(finding: "Finding") -> dict[str, Any]:
    return asdict(finding) | {"advice": finding.advice}


def _place(finding: "Finding") -> str:
    return finding.thread_id if finding.checkpoint_id is None else f"{finding.thread_id} {finding.checkpoint_id}"


def _print_adoptions(adoptions: Sequence["Adoption"], done: bool) -> None:
    for one in adoptions:
        if one.refusal is not None:
            click.echo(f"{one.thread_id}: cannot be adopted: {one.refusal}")
        else:
            click.echo(f"{one.thread_id}: {'adopted' if done else 'would be adopted'} with the head {one.head}")
            if one.note is not None:
                click.echo(f"{one.thread_id}: its values cannot be shown: {one.note}")
    if adoptions and not done:
        click.echo("Nothing was written; --yes does it.")


def _print(found: "Examined", repairs: Sequence["Finding"], done: bool) -> None:
    for one in repairs:
        click.echo(f"{_place(one)}: {one.reason}: {'repaired' if done else 'would be repaired'}")
    if repairs and not done:
        click.echo("Nothing was written; --yes does it.")
    for finding in found.findings:
        click.echo(f"{_place(finding)}: {finding.reason}: {finding.advice}")
    if found.damage is not None:
        return click.echo(f"{found.damage}: restore a backup.")
    state = f"{len(found.findings)} found" if found.findings else "nothing is wrong"
    threads, checkpoints = output.counted(found.threads, "thread"), output.counted(found.checkpoints, "checkpoint")
    click.echo(f"{threads}, {checkpoints}: {state}.")
