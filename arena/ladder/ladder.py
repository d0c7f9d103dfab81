"""A ladder as a table: what the truth layer makes, the store keeps and everybody shows. It computes nothing.

It needs no numpy, which a server does not load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.ladder.events import Node
from arena.ladder.fortune import Fortune

SETTLED: Final = 40.0
"""Elo of standard error up to which a rating is no longer provisional."""
ACQUAINTED: Final = 8
"""Distinct opponents from which a rating is no longer provisional."""


class Figure(NamedTuple):
    """What is known of a node, whether it stands on the ladder or is an older version."""

    node: Node
    rating: float
    """Elo."""
    error: float
    """Standard error in Elo: what the matches themselves show, and no less than the model's while that is above 40."""
    matches: int
    """Matches that count for it."""
    opponents: int
    """Distinct bots it met in them; several versions of one are one."""
    own: float
    """Standard error in Elo against the field's mean: what is left of the error without that of the scale."""

    @property
    def provisional(self) -> bool:
        """Whether too little is known of it yet."""
        return self.error > SETTLED or self.opponents < ACQUAINTED


class Line(NamedTuple):
    """A bot's newest version on the ladder."""

    node: Node
    rating: float
    error: float
    """Standard error in Elo; the 95 % interval is ±1.96 of it."""
    rank: int
    """1 is the best; equal ratings share a rank."""
    rank_low: int
    """The best rank it may have: 1 + those surely (95 %) better."""
    rank_high: int
    """The worst."""
    best: float
    """The probability that it is the best of the ladder."""
    matches: int
    opponents: int
    provisional: bool


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder after some event."""

    lines: tuple[Line, ...]
    """The newest versions, best first."""
    figures: tuple[Figure, ...]
    """Of every entrant, by node."""
    through: int
    """The number of the last event it is made of."""
    digest: str
    """SHA-256 over the bits of all the above but `through`: a void and what it voids leave no trace."""
    fortunes: tuple[Fortune, ...] = ()
    """The luck column, by node: beside the ratings and no part of the digest."""
    replayed: int = 0
    """The number of the last baseline that the luck column is made of."""
