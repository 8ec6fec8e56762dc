"""The lines that are printed, as they are measured; it measures nothing.

A goal is an upper bound unless it says otherwise; a line beyond its goal ends with `missed`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

TITLES = ("what", "measured", "ratio", "goal")
WIDTHS = (52, 14, 9, 11)


@dataclass(frozen=True)
class Goal:
    """A bound with its unit, None where there is none; `ratio` bounds the ratio instead of the value."""

    bound: float | None = None
    unit: str = "ms"
    at_least: bool = False
    ratio: bool = False

    def __str__(self) -> str:
        if self.bound is None:
            return "-"
        bound = f"{'≥' if self.at_least else '≤'} " * bool(self.bound) + f"{self.bound:,g}"
        return f"{bound}×" if self.ratio else f"{bound} {self.unit}".rstrip()

    def missed(self, value: float, ratio: float | None) -> bool:
        """Say whether what was measured is on the wrong side."""
        found = ratio if self.ratio else value
        if self.bound is None or found is None:
            return False
        return found < self.bound if self.at_least else found > self.bound


@dataclass(frozen=True)
class Line:
    """One thing that was measured, in its goal's unit."""

    what: str
    value: float
    ratio: float | None = None
    goal: Goal = Goal()

    def __str__(self) -> str:
        digits = 0 if isinstance(self.value, int) or self.value >= 100 else 1 if self.value >= 10 else 2
        value = f"{self.value:,.{digits}f} {self.goal.unit}".rstrip()
        ratio = "-" if self.ratio is None else f"{self.ratio:.2f}"
        end = "missed" if self.goal.missed(self.value, self.ratio) else ""
        return row((self.what, value, ratio, str(self.goal)), end)


def row(cells: Iterable[str], end: str = "") -> str:
    """Give one line of the table: the first column to the left, numbers to the right."""
    what, *rest = (
        cell.ljust(w) if not n else cell.rjust(w) for n, (cell, w) in enumerate(zip(cells, WIDTHS, strict=True))
    )
    return "  ".join((what, *rest, end)).rstrip()


def head(title: str, ratio: str) -> str:
    """Give the lines above a part; `ratio` says what its ratios are to."""
    return f"\n{title} (ratio: {ratio})\n{row(TITLES)}\n{row('-' * width for width in WIDTHS)}"
