"""Arithmetic that can be calculated, and everything else refused at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deerflow_lite.graphs.embedded.arithmetic import NotArithmetic, calculated


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2*(3+4)", "14"),
        (" -2 ** 2 ", "-4"),
        ("7 // 2 + 7 % 4", "6"),
        ("0.1 + 0.2", "0.3"),
        ("10 / 4", "2.5"),
        ("2 ** -1", "0.5"),
        ("2 ** 4000 % 97", str(2**4000 % 97)),
        ("+(-(3))", "-3"),
    ],
)
def test_an_expression_has_its_value(text: str, wanted: str) -> None:
    assert calculated(text) == wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1/0", "division by zero"),
        ("1 % 0.0", "division by zero"),
        ("9**9**9**9", "the numbers are too large"),
        ("2**4096", "the numbers are too large"),
        ("10.0**400", "the numbers are too large"),
        ("1e999", "the numbers are too large"),
        ("(-8)**0.5", "the result is no real number"),
        ("1 +", "that is no arithmetic"),
        ("", "that is no arithmetic"),
        ("\0", "that is no arithmetic"),
        ("1;2", "that is no arithmetic"),
        ("__import__('os')", "only numbers, + - * / // % ** and parentheses are known"),
        ("True + 1", "only numbers, + - * / // % ** and parentheses are known"),
        ("'a' * 9", "only numbers, + - * / // % ** and parentheses are known"),
        ("1 << 9", "only numbers, + - * / // % ** and parentheses are known"),
        ("2j", "only numbers, + - * / // % ** and parentheses are known"),
        ("1" * 201, "the expression is longer than 200 characters"),
    ],
)
def test_what_cannot_be_calculated_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(NotArithmetic) as caught:
        calculated(text)
    assert str(caught.value) == reason


@given(st.text(alphabet="0123456789.+-*/%() e_j", max_size=200))
def test_any_text_gives_a_number_or_a_refusal(text: str) -> None:
    try:
        assert calculated(text)
    except NotArithmetic as refusal:
        assert str(refusal)
