"""The luck columns of a ladder: mean scores of versions, plain and adjusted for luck. They never affect a rating.

Matches count in the order in which their deals were replayed. Matches without a baseline do not count. Figures of
earlier matches do not depend on later ones. Sums are exact, so the same matches in the same order give the same figures
to the last bit.
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
"""Scores are summed in units of 1/`GRID` points."""


class DealKind(NamedTuple):
    """Conditions under which baselines are comparable."""

    seats: int
    options: str
    house: str
    """Names and versions of the house bots that replay the deals."""


class ReplayedMatch(NamedTuple):
    """A rated match whose deals house bots have replayed. Tuples are by seat."""

    number: int
    """Number of the baseline: 1, 2, … in the order in which they were stored."""
    match_id: int
    kind: DealKind
    nodes: tuple[Node, ...]
    counts: tuple[bool, ...]
    """True if the result counts for the node."""
    scores: tuple[int, ...]
    baselines: tuple[int, ...]
    """Points of the house bots, summed over all replays."""


class LuckFigures(NamedTuple):
    """A version's mean score over its replayed matches. Its seats in one match count once, with their mean."""

    node: Node
    matches: int
    plain: float
    """Mean score in points."""
    plain_error: float | None
    """Standard error of `plain`. None after one match."""
    adjusted: float
    """Mean luck-adjusted score in points."""
    adjusted_error: float | None
    """Standard error of `adjusted`. None after one match."""


class LuckColumns:
    """Luck figures of one game, updated with every replayed match."""

    def __init__(self) -> None:
        self.through = 0
        """Number of the last applied baseline."""
        self._luck: dict[DealKind, Luck] = {}
        self._plain: defaultdict[Node, _Sample] = defaultdict(_Sample)
        self._adjusted: defaultdict[Node, _Sample] = defaultdict(_Sample)

    def take(self, match: ReplayedMatch, void: bool) -> None:
        """Apply the next match. An annulled match counts for no version, but its fair deals improve the adjustment.

        Raises:
            ValueError: the match has fewer than two seats, or not one score and one baseline per seat.
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

    def figures(self) -> tuple[LuckFigures, ...]:
        """Return the figures of every version with a replayed match that counts for it, by node."""
        return tuple(
            LuckFigures(
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
    """Mean and standard error of observations, from exact integer sums in units of 1/`GRID`."""

    __slots__ = ("_squares", "_total", "count")

    def __init__(self) -> None:
        self.count = self._total = self._squares = 0

    def add(self, scores: Sequence[float]) -> None:
        """Add one observation, the mean of these scores."""
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
