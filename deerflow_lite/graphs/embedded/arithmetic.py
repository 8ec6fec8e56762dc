"""Arithmetic on text, by walking Python's syntax tree; it evaluates no code and cannot take long.

Every intermediate whole number stays below 4,096 bits.
"""

import ast
import math
import operator
from collections.abc import Callable

MAX_TEXT = 200
MAX_BITS = 4096
Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class NotArithmetic(ValueError):
    """The text is no arithmetic, or its result cannot be told."""


def calculated(text: str) -> str:
    """Give the value of an expression of numbers, + - * / // % ** and parentheses; raises NotArithmetic."""
    if len(text) > MAX_TEXT:
        raise NotArithmetic(f"the expression is longer than {MAX_TEXT} characters")
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body)
    except ZeroDivisionError:
        raise NotArithmetic("division by zero") from None
    except (OverflowError, MemoryError, RecursionError):
        raise NotArithmetic("the numbers are too large") from None
    except (SyntaxError, ValueError) as error:
        raise error if isinstance(error, NotArithmetic) else NotArithmetic("that is no arithmetic") from None
    return str(value) if isinstance(value, int) else format(value, ".15g")


def _value(node: ast.AST) -> Number:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _bounded(node.value)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_value(node.left), _value(node.right))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _bounded(_BINARY[type(node.op)](_value(node.left), _value(node.right)))
    raise NotArithmetic("only numbers, + - * / // % ** and parentheses are known")


def _power(base: Number, exponent: Number) -> Number:
    """The size of the result is known before it is made."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and abs(base) > 1 and exponent * math.log2(abs(base)) > MAX_BITS:
        raise OverflowError
    return _bounded(base**exponent)


def _bounded(value: object) -> Number:
    if isinstance(value, int) and value.bit_length() <= MAX_BITS:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise NotArithmetic("the result is no real number" if isinstance(value, complex) else "the numbers are too large")
