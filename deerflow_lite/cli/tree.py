"""The verb that draws the turns of a thread; it changes nothing.

A conversation goes down in one column; where a turn was asked or answered more than once, each answer has its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deerflow_lite.cli import output
from deerflow_lite.cli.options import with_gateway
from deerflow_lite.cli.threads import one_thread

if TYPE_CHECKING:
    from deerflow_lite.gateway import Gateway
    from deerflow_lite.lifecycle.shown import TreeTurn

Below = Mapping[str | None, Sequence["TreeTurn"]]


@click.command()
@click.argument("thread", metavar="ID")
@with_gateway
def tree(gateway: "Gateway", as_json: bool, thread: str) -> None:
    """Draw every turn of a thread; ● are those that are selected."""
    found = one_thread(gateway, thread)
    with gateway.trees.reading(None, found.thread_id) as read:
        whole = read.tree()
        texts = {} if as_json else {key: output.text_of(content) for key, content in read.questions().items()}
    if as_json:
        return output.print_json(asdict(whole))
    below: dict[str | None, list[TreeTurn]] = {}
    for turn in whole.turns:
        below.setdefault(turn.parent_turn_id, []).append(turn)
    for line in drawn(below, texts):
        click.echo(line)
    for broken in whole.broken:
        click.echo(f"! {broken.checkpoint_id}: {broken.reason}")


def drawn(below: Below, texts: Mapping[str, str]) -> Iterator[str]:
    """Give the lines of a tree; a turn's only child stands under it, several are branches."""
    waiting = [*_branches(below, None, "")][::-1]
    while waiting:
        turn, first, rest = waiting.pop()
        yield f"{first}{_line(turn, texts.get(turn.turn_id, ''))}"
        waiting += [*_branches(below, turn.turn_id, rest)][::-1]


def _branches(below: Below, parent: str | None, margin: str) -> Iterator[tuple["TreeTurn", str, str]]:
    turns = below.get(parent, ())
    for number, turn in enumerate(turns):
        if len(turns) == 1:
            yield turn, margin, margin
        elif number < len(turns) - 1:
            yield turn, margin + "├─ ", margin + "│  "
        else:
            yield turn, margin + "└─ ", margin + "   "


def _line(turn: "TreeTurn", text: str) -> str:
    shown = output.one_line(" ".join(text.split()) or "-")
    place = f"{turn.sibling_index + 1}/{turn.sibling_count} " if turn.sibling_count > 1 else ""
    status = "" if turn.status == "done" else f" ({turn.status})"
    return f"{'●' if turn.on_selected_path else '○'} {place}{shown}{status}  {turn.turn_id}"
