"""One measured number beside what was promised of it; it measures nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from math import inf, isfinite
from typing import NamedTuple, TypeVar

from rich.console import Console
from rich.progress import track

ItemT = TypeVar("ItemT")


class Effort(Enum):
    """How long to measure."""

    QUICK = "quick"
    """Seconds: does it still run?"""
    DEFAULT = "default"
    """A few minutes."""
    LONG = "long"
    """As in the documentation's tables."""

    def of(self, quick: int, default: int, long: int) -> int:
        """The number for this effort."""
        return {Effort.QUICK: quick, Effort.DEFAULT: default, Effort.LONG: long}[self]


class Verdict(Enum):
    """What a figure says of its bar."""

    REACHED = "reached"
    MISSED = "missed"
    OPEN = "open"
    """Beyond the bar, but by less than twice the figure's own error: more repetitions would tell."""


class Bar(NamedTuple):
    """Between what a figure should be."""

    low: float
    high: float

    def verdict(self, value: float, error: float = 0.0) -> Verdict:
        """Of a value whose standard error is given; what is not a number misses every bar."""
        if self.low <= value <= self.high:
            return Verdict.REACHED
        near = self.low - 2 * error <= value <= self.high + 2 * error
        return Verdict.OPEN if near else Verdict.MISSED


class Figure(NamedTuple):
    """A number, its standard error and its bar."""

    what: str
    value: float
    form: str = ".1f"
    """How it is shown, as for `format`."""
    unit: str = ""
    error: float = 0.0
    """Standard error from the repetitions; 0 where there is none."""
    bar: Bar | None = None
    note: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """None without a bar."""
        return self.bar.verdict(self.value, self.error) if self.bar else None

    def plain(self) -> dict[str, object]:
        """For JSON: numbers that are not finite are None."""
        value = self.value if isfinite(self.value) else None
        own: dict[str, object] = {"what": self.what, "value": value, "unit": self.unit, "error": self.error}
        if self.bar:
            bounds = [bound if isfinite(bound) else None for bound in self.bar]
            own |= {"bar": bounds, "verdict": self.bar.verdict(self.value, self.error).value}
        return own | ({"note": self.note} if self.note else {})


def at_most(high: float) -> Bar:
    """No lower end."""
    return Bar(-inf, high)


def followed(items: Sequence[ItemT], what: str) -> Iterator[ItemT]:
    """The same items, with a progress bar on a terminal's standard error."""
    console = Console(stderr=True)
    tracked: Iterable[ItemT] = track(items, what, console=console, transient=True, disable=not console.is_terminal)
    yield from tracked
