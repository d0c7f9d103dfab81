"""A ladder as plain values: made by `arena.ladder.fitted`, kept by the store, shown to people. It computes nothing.

It does not import NumPy, which the server's own process never loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.ladder.events import Node
from arena.ladder.luck_columns import LuckFigures

ESTABLISHED_MAX_ERROR: Final = 40.0
"""Largest standard error, in Elo, of a rating that is not provisional."""
ESTABLISHED_MIN_OPPONENTS: Final = 8
"""Fewest distinct opponents of a rating that is not provisional."""


class Figure(NamedTuple):
    """Rating of one node, on the ladder or an older version."""

    node: Node
    rating: float
    """Elo."""
    error: float
    """Standard error in Elo: the empirical one, and at least the model's while that is above 40."""
    matches: int
    """Matches that count for it."""
    opponents: int
    """Distinct bots it played in them; versions of one bot are one."""
    own: float
    """Standard error in Elo relative to the field's mean, that is, without the error of the scale."""

    @property
    def provisional(self) -> bool:
        """Whether too little is known of the node to rely on its rating."""
        return self.error > ESTABLISHED_MAX_ERROR or self.opponents < ESTABLISHED_MIN_OPPONENTS


class LadderLine(NamedTuple):
    """One bot on the ladder, by its newest version."""

    node: Node
    rating: float
    error: float
    """Standard error in Elo; the 95 % interval is ±1.96 of it."""
    rank: int
    """1 is the best; equal ratings share a rank."""
    rank_low: int
    """Best rank it may have: 1 + the number of bots that are better with 95 % confidence."""
    rank_high: int
    """Worst rank it may have: the number of bots that are not worse with 95 % confidence."""
    best: float
    """Probability that it is the best bot of the ladder."""
    matches: int
    opponents: int
    provisional: bool


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder after a given event."""

    lines: tuple[LadderLine, ...]
    """The newest versions, best first."""
    figures: tuple[Figure, ...]
    """One for every entrant, in the order of their nodes."""
    through: int
    """Number of the last event included."""
    digest: str
    """SHA-256 of `lines` and `figures` in hex; without `through`, so that a voided match leaves no trace."""
    luck: tuple[LuckFigures, ...] = ()
    """The luck column, by node. It is not part of the digest and affects no rating."""
    replayed: int = 0
    """Number of the last baseline included in the luck column."""
