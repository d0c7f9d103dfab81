"""Types for measured figures and for the bars that they should reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from math import inf, isfinite
from typing import NamedTuple, TypeVar

from rich.console import Console
from rich.progress import track

ItemT = TypeVar("ItemT")


class Effort(Enum):
    """Amount of work for a measurement."""

    QUICK = "quick"
    """A few seconds, to check that everything runs."""
    DEFAULT = "default"
    """A few minutes."""
    LONG = "long"
    """Enough work for the tables in the documentation."""

    def of(self, quick: int, default: int, long: int) -> int:
        """Return the argument for this effort."""
        return {Effort.QUICK: quick, Effort.DEFAULT: default, Effort.LONG: long}[self]


class Verdict(Enum):
    """The verdict on whether a figure reaches its bar."""

    REACHED = "reached"
    MISSED = "missed"
    OPEN = "open"
    """The figure misses the bar by less than twice its standard error, so more repetitions are needed."""


class Bar(NamedTuple):
    """Range in which a figure should be."""

    low: float
    high: float

    def verdict(self, value: float, error: float = 0.0) -> Verdict:
        """Compare a value and its standard error with the range. NaN misses every bar."""
        if self.low <= value <= self.high:
            return Verdict.REACHED
        near = self.low - 2 * error <= value <= self.high + 2 * error
        return Verdict.OPEN if near else Verdict.MISSED


class Figure(NamedTuple):
    """A number, its standard error and its bar."""

    what: str
    value: float
    form: str = ".1f"
    """Format specification of value and error."""
    unit: str = ""
    error: float = 0.0
    """Standard error from the repetitions, or 0 if unknown."""
    bar: Bar | None = None
    note: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """Verdict on the bar, or None without a bar."""
        return self.bar.verdict(self.value, self.error) if self.bar else None

    def plain(self) -> dict[str, object]:
        """Convert to plain values for JSON. Numbers that are not finite become None."""
        value = self.value if isfinite(self.value) else None
        own: dict[str, object] = {"what": self.what, "value": value, "unit": self.unit, "error": self.error}
        if self.bar:
            bounds = [bound if isfinite(bound) else None for bound in self.bar]
            own |= {"bar": bounds, "verdict": self.bar.verdict(self.value, self.error).value}
        return own | ({"note": self.note} if self.note else {})


def at_most(high: float) -> Bar:
    """Create a bar with no lower limit."""
    return Bar(-inf, high)


def with_progress(items: Sequence[ItemT], what: str) -> Iterator[ItemT]:
    """Iterate over items, with a progress bar if standard error is a terminal."""
    console = Console(stderr=True)
    tracked: Iterable[ItemT] = track(items, what, console=console, transient=True, disable=not console.is_terminal)
    yield from tracked
