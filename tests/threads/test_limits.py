"""What ids, metadata and titles may be."""

import json
from typing import Any

import pytest

from deerflow_lite.errors import Invalid, TooLarge
from deerflow_lite.threads.limits import creatable_id, metadata_text, valid_id
from deerflow_lite.threads.titles import auto_title, clean_title, tidy_title


@pytest.mark.parametrize("thread_id", ["a", "A-_9", "x" * 64, "018f-7", "New"])
def test_an_id_of_letters_digits_underscore_and_hyphen_is_valid(thread_id: str) -> None:
    assert creatable_id(thread_id) == thread_id


@pytest.mark.parametrize("thread_id", ["", " ", "a\n", "../a", "x" * 65, "é", "😀", "a b", "a/b", "\ud83d", "a\x00"])
def test_any_other_id_is_refused(thread_id: str) -> None:
    assert not valid_id(thread_id)
    with pytest.raises(Invalid, match="^thread_id: must be 1 to 64"):
        creatable_id(thread_id)


@pytest.mark.parametrize("thread_id", ["new", "archived", "search", "count", "prune", "archive"])
def test_reserved_words_are_no_ids_of_new_threads(thread_id: str) -> None:
    assert valid_id(thread_id)
    with pytest.raises(Invalid, match=f"^thread_id: {thread_id} is a reserved word$"):
        creatable_id(thread_id)


def nested(depth: int, kind: type) -> Any:
    value: Any = 1
    for _ in range(depth - 1):
        value = [value] if kind is list else {"d": value}
    return {"deep": value}


@pytest.mark.parametrize("kind", [list, dict])
def test_metadata_may_be_nested_32_deep_and_no_deeper_however_deep_it_is(kind: type) -> None:
    assert json.loads(metadata_text(nested(32, kind))) == nested(32, kind)
    for depth in (33, 1000, 50_000):
        with pytest.raises(Invalid, match='^metadata: "deep" must be nested at most 32 deep$'):
            metadata_text(nested(depth, kind))


def test_metadata_may_have_65536_bytes_of_utf8_json_and_no_more() -> None:
    assert len(metadata_text({"k": "é" * 32764}).encode()) == 65536
    for metadata in ({"k": "é" * 32764 + "x"}, {"k": "x" * 5_000_000}, {"k": [0] * 1_000_000}, {"k": [[]] * 40_000}):
        with pytest.raises(TooLarge, match="^metadata: must be at most 65536 bytes of JSON$"):
            metadata_text(metadata)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (2**63, "must be an integer within signed 64 bit"),
        (-(2**63) - 1, "must be an integer within signed 64 bit"),
        (12345678901234567890, "must be an integer within signed 64 bit"),
        (float("nan"), "must be a finite number"),
        (float("-inf"), "must be a finite number"),
        ("a\x00b", "must not hold a NUL character"),
        ("\ud83d", "must not hold a lone surrogate"),
        (object(), "must be a JSON value"),
    ],
)
def test_a_value_that_could_not_be_kept_exactly_is_refused_by_the_name_of_its_key(value: Any, reason: str) -> None:
    for metadata in ({"ok": 1, "k": value}, {"k": [1, {"x": value}]}):
        with pytest.raises(Invalid) as refused:
            metadata_text(metadata)
        assert refused.value.errors == {"metadata": [f'"k" {reason}']}


@pytest.mark.parametrize("key", ["k\x00", "\ud83d"])
def test_a_key_that_could_not_be_kept_exactly_is_refused(key: str) -> None:
    for metadata in ({key: 1}, {"k": [{key: 1}]}):
        with pytest.raises(Invalid, match="^metadata: the key .* must not hold a"):
            metadata_text(metadata)


def test_metadata_is_kept_exactly() -> None:
    kept = {
        "": [],
        "é😀\u2028\x01": {"a": [None, True, False, 2**63 - 1, -(2**63), 1.5, -0.0, "\\\"'"]},
        "z": 1,
        "a": 2,
    }
    assert json.loads(metadata_text(kept)) == kept
    assert list(json.loads(metadata_text(kept))) == list(kept)
    assert metadata_text({"a": [1, {"b": None}]}) == '{"a":[1,{"b":null}]}'


@pytest.mark.parametrize(
    ("title", "kept"), [("  a  ", "a"), ("x" * 256, "x" * 256), ("\ta\n", "a"), ("👨‍👩‍👧", "👨‍👩‍👧")]
)
def test_a_title_by_hand_is_trimmed(title: str, kept: str) -> None:
    assert clean_title(title) == kept


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  Hello \n\n\t world\u3000 ", "Hello world"),
        ("", None),
        (" \n ", None),
        ("\x00\x1b", None),
        ("a\x00b\x1b", "a b"),
        ("\ud83d", "\ufffd"),
        ("x" * 100, "x" * 60),
        ("👨‍👩‍👧" * 61, "👨‍👩‍👧" * 60),
        ("e\u0301" * 61, "e\u0301" * 60),
        ("🇩🇪" * 61, "🇩🇪" * 60),
        ("a " * 5000, ("a " * 30).strip()),
        ("x" * 59 + " y", "x" * 59),
    ],
)
def test_an_automatic_title_is_the_text_collapsed_and_cut_at_60_grapheme_clusters(text: str, title: str | None) -> None:
    assert auto_title(text) == title


def test_an_automatic_title_of_a_huge_text_is_short() -> None:
    assert auto_title("x" * 5_000_000) == "x" * 60
    assert auto_title("a" + "\u0301" * 5_000_000) == "a" + "\u0301" * 1023


@pytest.mark.parametrize(
    ("title", "kept"), [(None, None), ("  ", None), ("a\nb", "a b"), ("x" * 5000, "x" * 1024), ("\udc00x", "\ufffdx")]
)
def test_the_title_of_a_run_is_made_such_that_it_can_be_stored(title: str | None, kept: str | None) -> None:
    assert tidy_title(title) == kept
