"""How threads are printed: stable JSON for programs, plain tables for people; it reads and writes no thread.

Invariants: every id is printed whole, for it is accepted everywhere; nothing a title holds reaches the terminal as a
control sequence; there is no colour.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

from deerflow_lite.threads import flags
from deerflow_lite.threads.model import Found, HeadValues, Thread

TITLE_WIDTH = 60
MESSAGES_SHOWN = 6
LINES = "\n\t"


def as_json(thread: Thread) -> dict[str, Any]:
    """Give a thread as the command line's JSON object."""
    return {
        "thread_id": thread.thread_id,
        "owner": thread.owner,
        "title": thread.title,
        "status": thread.status,
        "archived": flags.archived(thread),
        "pinned": flags.pinned(thread),
        "created_at": thread.created_at,
        "updated_at": thread.updated_at,
        "state_updated_at": thread.state_updated_at,
        "head_checkpoint_id": thread.head,
        "metadata": json.loads(thread.metadata),
    }


def counted(number: int, noun: str) -> str:
    """Give a number with its noun: 1 thread, 2 threads."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_json(value: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_threads(threads: Sequence[Thread], wanted_json: bool) -> None:
    """Print threads, one a line."""
    if wanted_json:
        print_json([as_json(thread) for thread in threads])
    elif threads:
        rows = [(each.thread_id, minute(each.updated_at), _marks(each), _title(each)) for each in threads]
        print_table(("ID", "UPDATED (UTC)", "STATUS", "TITLE"), rows)


def print_found(found: Found, wanted_json: bool) -> None:
    """Print one page of a search and, for people, how many more there are."""
    print_threads(found.threads, wanted_json)
    if wanted_json:
        return
    if not found.threads:
        click.echo("No thread matches.")
    elif found.more:
        click.echo(f"{len(found.threads)} of {found.total}{'+' if found.capped else ''}; --limit shows more.")


def print_thread(thread: Thread, values: HeadValues | None, wanted_json: bool) -> None:
    """Print one thread with the messages that people see at its head; system reminders and tool calls are none."""
    stored = None if values is None else json.loads(values.body).get("messages")
    messages = list(filter(_visible, stored)) if isinstance(stored, list) else []
    shown = as_json(thread)
    if wanted_json:
        return print_json(shown | {"message_count": len(messages), "messages": messages})
    shown |= {"title": _title(thread), "metadata": thread.metadata, "messages": len(messages)}
    for name, value in shown.items():
        click.echo(f"{name.replace('_', ' '):20}{_text(value)}")
    for message in messages[-MESSAGES_SHOWN:]:
        click.echo(f"\n{message['type']}: {_printable(text_of(message.get('content')), LINES)}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else _printable(str(value))


def _visible(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("type") not in ("human", "ai"):
        return False
    return (message.get("additional_kwargs") or {}).get("hide_from_ui") is not True


def text_of(content: Any) -> str:
    """Give the text of a message's content."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or [] if isinstance(part, dict))


def _marks(thread: Thread) -> str:
    marks = {"pinned": flags.pinned(thread), "archived": flags.archived(thread)}
    return " ".join([thread.status, *(mark for mark, given in marks.items() if given)])


def minute(time: str) -> str:
    """Give a stored time as people read it."""
    return time[:16].replace("T", " ")


def _title(thread: Thread) -> str:
    return one_line(thread.title or "-")


def one_line(text: str) -> str:
    """Give a text as it fits into a line."""
    line = _printable(text)
    return line if len(line) <= TITLE_WIDTH else line[: TITLE_WIDTH - 1] + "…"


def _printable(text: str, kept: str = "") -> str:
    return "".join(letter if letter.isprintable() or letter in kept else "�" for letter in text)


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns below their heads."""
    table = [head, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(head) - 1)]
    for row in table:
        click.echo("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]))
