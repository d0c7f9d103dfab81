"""What versions scored, plain and adjusted for luck: the luck column of a ladder. Nothing here touches a rating.

It takes the matches whose deals were replayed, in the order in which they were. A match without a baseline is passed
over, and one that gets it late comes late: no figure of an earlier match depends on it. Sums are exact, so the same
matches in the same order give the same figures to the last bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from statistics import fmean
from typing import Final, NamedTuple

from arena.ladder.events import Node
from arena.ladder.luck import Luck

GRID: Final = 1 << 20
"""Parts of a point in which scores are added up."""


class Kind(NamedTuple):
    """What must agree for two baselines to be compared."""

    seats: int
    options: str
    house: str
    """The bots that replay, with their versions."""


class Replayed(NamedTuple):
    """A rated match whose deals the house has played again; everything else by seat."""

    number: int
    """1, 2, … in the order in which the baselines were stored."""
    match: int
    kind: Kind
    nodes: tuple[Node, ...]
    counts: tuple[bool, ...]
    """Whether the result counts for the node."""
    scores: tuple[int, ...]
    baselines: tuple[int, ...]
    """Sums over the bots that replay."""


class Fortune(NamedTuple):
    """A version's mean score in its replayed matches; a match in which it had several seats is one."""

    node: Node
    matches: int
    plain: float
    """Points."""
    plain_error: float | None
    """Standard error; None after one match."""
    adjusted: float
    """Points, with the deals' part taken off."""
    adjusted_error: float | None


class Fortunes:
    """The figures of one game as its matches are replayed."""

    def __init__(self) -> None:
        self.through = 0
        """The number of the last match taken."""
        self._luck: dict[Kind, Luck] = {}
        self._plain: defaultdict[Node, _Sample] = defaultdict(_Sample)
        self._adjusted: defaultdict[Node, _Sample] = defaultdict(_Sample)

    def take(self, match: Replayed, void: bool) -> None:
        """Takes the next match. A void one counts for nobody, but luck is learnt from it: its deals were fair.

        ValueError for a table of fewer than two seats, or not one score and one baseline a seat.
        """
        luck = self._luck.setdefault(match.kind, Luck(match.kind.seats))
        adjusted = luck.take(match.scores, match.baselines)
        self.through = match.number
        if void:
            return
        for node in {node for node, does in zip(match.nodes, match.counts, strict=True) if does}:
            own = [seat for seat, sitter in enumerate(match.nodes) if sitter == node]
            self._plain[node].add([match.scores[seat] for seat in own])
            self._adjusted[node].add([adjusted[seat] for seat in own])

    def figures(self) -> tuple[Fortune, ...]:
        """Those of every version with a replayed match that counts for it, by node."""
        return tuple(
            Fortune(
                node,
                plain.count,
                plain.mean,
                plain.error,
                self._adjusted[node].mean,
                self._adjusted[node].error,
            )
            for node, plain in sorted(self._plain.items())
        )


class _Sample:
    """Sums over observations, exact: whole numbers of a fine grid."""

    __slots__ = ("_squares", "_total", "count")

    def __init__(self) -> None:
        self.count = self._total = self._squares = 0

    def add(self, scores: Sequence[float]) -> None:
        """One observation: the mean of these."""
        value = round(GRID * fmean(scores))
        self.count += 1
        self._total += value
        self._squares += value * value

    @property
    def mean(self) -> float:
        return self._total / (self.count * GRID)

    @property
    def error(self) -> float | None:
        if self.count < 2:
            return None
        squares = self._squares * self.count - self._total * self._total
        return sqrt(squares / (self.count * self.count * (self.count - 1))) / GRID
