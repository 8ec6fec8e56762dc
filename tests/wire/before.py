"""What happened between the recorded exchanges: conversations that were there, and slow runs held or let go."""

from collections.abc import Callable

from tests.service import Service, human, until
from tests.wire.recorded import Names, stable_id

Prepare = Callable[[Service, Names], None]


def talk(name: str, *words: str, graph: str = "chat") -> Prepare:
    """Make a thread with a turn for each word, its message ids h1, h2, ..."""

    def prepare(service: Service, names: Names) -> None:
        names.known[name] = service.thread()
        for number, word in enumerate(words, 1):
            service.wait(names.known[name], graph, human(word, f"h{number}"))

    return prepare


def both(*steps: Prepare) -> Prepare:
    """Do one after the other."""

    def prepare(service: Service, names: Names) -> None:
        for step in steps:
            step(service, names)

    return prepare


def named(name: str) -> Prepare:
    """Give a thread an id without making it."""

    def prepare(service: Service, names: Names) -> None:
        names.known[name] = stable_id(name)

    return prepare


def with_graph(service: Service, names: Names) -> None:
    names.known["<thread:3>"] = service.thread(metadata={"graph_id": "chat"})


def settled(name: str) -> Prepare:
    """Wait until no run of a thread is in flight."""

    def prepare(service: Service, names: Names) -> None:
        until(lambda: service.get(names.known[name])["status"] != "busy")

    return prepare


def cancelled(thread: str, run: str) -> Prepare:
    """Wait until a run that was told to end has ended."""
    return lambda service, names: service.reach(names.known[thread], names.known[run], "interrupted")


def searchable(service: Service, names: Names) -> None:
    """Make the five threads that are searched, the last touched one last."""
    made = [
        {"i": 0, "archived": True, "o": {"a": 1, "b": 2}, "l": [1, 2]}, {"i": 1, "archived": False, "o": {"a": 1}},
        {"i": 2, "archived": None}, {"i": 3}, {"i": "3"},
    ]  # fmt: skip
    for number, metadata in enumerate(made, 1):
        names.known[f"<thread:{number}>"] = service.thread(metadata={"mark": "mark"} | metadata)
    for number, graph, word in ((2, "chat", "findme"), (3, "ask", "q"), (4, "chat", "!boom x")):
        service.wait(names.known[f"<thread:{number}>"], graph, human(word, "f1"))


BEFORE: dict[str, Prepare] = {
    "threads/032": talk("<thread:9>"),
    "threads/035": both(talk("<uuid:5>", "turn 1", "turn 2"), talk("<uuid:14>")),
    "threads/040": talk("<thread:10>", "turn 1"),
    "search/001": searchable,
    "state/003": talk("<thread:2>", "turn 1", "turn 2"),
    "state/041": with_graph,
    "replay/001": talk("<thread:1>", "turn 1", "turn 2"),
    "multitask/003": cancelled("<thread:1>", "<run:1>"),
    "multitask/028": settled("<thread:6>"),
    "multitask/044": settled("<thread:10>"),
    "reconnect/028": settled("<thread:4>"),
    "reconnect/031": settled("<thread:5>"),
    "runs/025": named("<thread:3>"),
}
OPENING = frozenset({"multitask/015", "reconnect/024", "reconnect/031", "reconnect/033", "reconnect/036"})
LEFT = frozenset({"reconnect/023", "reconnect/027", "reconnect/030"})  # streams that the client left after two events
