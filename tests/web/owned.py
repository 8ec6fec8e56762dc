"""How every route is asked for somebody's things: one row a route, which a test reads; it asks nothing itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

JsonDict = dict[str, Any]
Ids = Mapping[str, str]
BODY = {"assistant_id": "chat", "input": {"messages": []}}


@dataclass(frozen=True)
class Row:
    """One way to ask a route. `kind` says what another owner gets.

    `open` and `shared`: the same answer; `anew`: a run of their own; `hidden`: that for an id that does not exist;
    `apart`: that of an empty service; `taken` and `created`: the refusal of an id that is not available.
    """

    kind: str
    body: Callable[[Ids], Any] = lambda ids: None
    query: Callable[[Ids], JsonDict] = lambda ids: {}
    owner: int = 200


def at(ids: Ids) -> JsonDict:
    """Name a checkpoint as clients do."""
    return {"thread_id": ids["thread_id"], "checkpoint_ns": "", "checkpoint_id": ids["checkpoint_id"]}


def run(**more: Callable[[Ids], Any]) -> Callable[[Ids], JsonDict]:
    return lambda ids: BODY | {name: value(ids) for name, value in more.items()}


def answer(ids: Ids) -> JsonDict:
    return {"message_id": ids["answer"]}


def question(ids: Ids) -> JsonDict:
    return {"human_message_id": ids["question"], "replacement_text": "anew"}


def item(ids: Ids) -> JsonDict:
    return {"namespace": ["notes"], "key": "k"}


HIDDEN, SHARED, APART = Row("hidden"), Row("shared"), Row("apart")
ROWS: dict[str, tuple[Row, ...]] = {
    "ok": (Row("open"),),
    "info": (SHARED,), "models": (SHARED,), "metrics": (Row("metrics"),), "search_assistants": (SHARED,),
    "count_assistants": (SHARED,), "get_assistant": (SHARED,), "draw_assistant": (SHARED,),
    "assistant_schemas": (SHARED,), "assistant_subgraphs": (SHARED,), "assistant_subgraph": (SHARED,),
    "create_thread": (Row("taken", lambda ids: {"thread_id": ids["thread_id"]}),
                      Row("taken", lambda ids: {"thread_id": ids["thread_id"], "if_exists": "do_nothing"})),
    "search_threads": (APART, Row("apart", lambda ids: {"ids": [ids["thread_id"]]}),
                       Row("apart", lambda ids: {"metadata": {"secret": "of alice"}, "values": {}}),
                       Row("apart", lambda ids: {"query": "alice", "archived": False})),
    "count_threads": (APART, Row("apart", lambda ids: {"ids": [ids["thread_id"]]}),
                      Row("apart", lambda ids: {"metadata": {"secret": "of alice"}})),
    "archive_threads": (
        Row("hidden", lambda ids: {"archived": True, "thread_ids": [ids["thread_id"]]}),
        Row("hidden", lambda ids: {"archived": True, "thread_ids": [ids["thread_id"]], "dry_run": True}),
        Row("apart", lambda ids: {"archived": True, "older_than": "2999-01-01T00:00:00Z"}),
    ),
    "get_thread": (HIDDEN,), "change_thread": (Row("hidden", lambda ids: {"metadata": {"a": 1}, "title": "t"}),),
    "copy_thread": (HIDDEN,), "delete_thread": (Row("hidden", owner=204),),
    "create_run": (
        Row("hidden", run()), Row("hidden", run(checkpoint=at)),
        Row("hidden", run(multitask_strategy=lambda _: "reject")),
        Row("hidden", run(checkpoint_id=lambda ids: ids["checkpoint_id"])),
        Row("created", run(if_not_exists=lambda _: "create")),
    ),
    "stream_run": (Row("hidden", run()), Row("hidden", run(checkpoint=at)),
                   Row("created", run(if_not_exists=lambda _: "create"))),
    "wait_run": (Row("hidden", run()), Row("hidden", run(checkpoint=at)),
                 Row("created", run(if_not_exists=lambda _: "create"))),
    "list_runs": (HIDDEN,), "get_run": (HIDDEN,), "delete_run": (Row("hidden", owner=204),),
    "cancel_run": (Row("hidden", owner=202), Row("hidden", query=lambda _: {"wait": "1"}, owner=202)),
    "cancel_runs": (
        Row("hidden", lambda ids: {"thread_id": ids["thread_id"], "run_ids": [ids["run_id"]]}, owner=204),
    ),
    "create_stateless": (Row("anew", run()), Row("anew", run(on_completion=lambda _: "keep"))),
    "wait_stateless": (Row("anew", run()),), "stream_stateless": (Row("anew", run()),),
    "create_batch": (Row("anew", lambda ids: [BODY, BODY]),),
    "get_run_by_id": (HIDDEN,), "join_run_by_id": (HIDDEN,), "rejoin_run_by_id": (HIDDEN,),
    "cancel_run_by_id": (Row("hidden", owner=202),),
    "prune_threads": (Row("apart", lambda ids: {"thread_ids": [ids["thread_id"]]}),
                      Row("apart", lambda ids: {"thread_ids": [ids["thread_id"]], "strategy": "keep_latest"})),
    "join_run": (HIDDEN,), "rejoin_run": (HIDDEN,),
    "prepare_regenerate": (Row("hidden", answer),), "prepare_edit": (Row("hidden", question),),
    "regenerate": (Row("hidden", answer), Row("hidden", lambda ids: answer(ids) | {"stream": True})),
    "edit": (Row("hidden", question),), "branch_thread": (Row("hidden", answer),),
    "get_state": (HIDDEN,), "get_state_at": (HIDDEN,),
    "read_state": (Row("hidden", lambda ids: {"checkpoint": at(ids)}),),
    "update_state": (Row("hidden", lambda ids: {"values": {"messages": []}}),
                     Row("hidden", lambda ids: {"values": {"messages": []}, "checkpoint": at(ids)}),
                     Row("hidden", lambda ids: {"values": {"title": "t"}})),
    "search_history": (HIDDEN, Row("hidden", lambda ids: {"before": ids["checkpoint_id"]}),
                       Row("hidden", lambda ids: {"checkpoint": at(ids)})),
    "get_history": (HIDDEN, Row("hidden", query=lambda ids: {"before": ids["checkpoint_id"]})),
    "get_tree": (HIDDEN,), "get_turns": (HIDDEN, Row("hidden", query=lambda ids: {"before": ids["turn_id"]})),
    "get_messages": (HIDDEN,), "put_head": (Row("hidden", lambda ids: {"checkpoint_id": ids["checkpoint_id"]}),),
    "delete_turn": (Row("hidden", owner=409),),
    "put_item": (Row("own item", lambda ids: item(ids) | {"value": {"by": "whoever asks"}}, owner=204),),
    "get_item": (Row("apart", query=lambda ids: {"namespace": "notes", "key": "k"}),),
    "delete_item": (Row("own item", item, owner=204),),
    "search_items": (Row("apart", lambda ids: {"namespace_prefix": []}),
                     Row("apart", lambda ids: {"namespace_prefix": ["notes"]}),
                     Row("apart", lambda ids: {"namespace_prefix": ["*"]})),
    "list_namespaces": (APART, Row("apart", lambda ids: {"prefix": ["*"], "suffix": ["*"]})),
}  # fmt: skip
