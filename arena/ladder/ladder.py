"""A ladder as plain values: computed by `arena.ladder.fitted`, stored, and shown to people.

This module does not import NumPy, which the server's own process never loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from arena.ladder.events import Node
from arena.ladder.luck_columns import LuckFigures

ESTABLISHED_MAX_ERROR: Final = 40.0
"""Largest standard error, in Elo, of a rating that is not provisional."""
ESTABLISHED_MIN_OPPONENTS: Final = 8
"""Fewest distinct opponents of a rating that is not provisional, if as many exist."""


class Quota(NamedTuple):
    """The maximum number of matches between two guests that count, however often they meet; 0 for no limit."""

    day: int = 0
    """The limit of one day in UTC."""
    week: int = 0
    """The limit of one week in UTC, from Monday on, applied to the sum of its days."""
    young_days: int = 0
    """Number of days, from its first result on, for which a bot is young; 0 for none.
    For an older bot that mostly meets older ones, all young bots together count as one."""

    @property
    def bounds(self) -> bool:
        """True if any limit is set."""
        return bool(self.day or self.week)


NO_QUOTA: Final = Quota()


def established(error: float) -> bool:
    """True if a fitted rating with this standard error, in Elo, is known well enough to count as an opponent."""
    return error <= ESTABLISHED_MAX_ERROR


def provisional(error: float, opponents: int, others: int) -> bool:
    """True if too little is known of a bot to rely on its rating.

    `error` is that of its fitted rating. `opponents` is the number of bots that it has met, `others` the number of
    established ones that it could have met, so that a newcomer makes nobody provisional again.
    """
    return not established(error) or opponents < min(ESTABLISHED_MIN_OPPONENTS, others)


class Figure(NamedTuple):
    """Rating of one node, on the ladder or an older version."""

    node: Node
    rating: float
    """Elo."""
    error: float
    """Standard error in Elo without the scale's: the empirical one, but at least the model's if that exceeds 40.

    For an older version the opponents are assumed to be known.
    """
    matches: int
    """Matches that count for it."""
    opponents: int
    """Distinct bots it played in them; versions of one bot are one."""


class LadderLine(NamedTuple):
    """One bot on the ladder, by its newest version."""

    node: Node
    rating: float
    error: float
    """The error of its figure."""
    shrunk: float
    """The shown and ranked rating: the strength's posterior mean in Elo, see `arena.ladder.shrinkage`."""
    shrunk_error: float
    """Posterior standard deviation in Elo; the 95 % interval is `shrunk` ± 1.96 of it."""
    rank: int
    """Rank by `shrunk`; 1 is the best, and equal ratings share a rank."""
    rank_low: int
    """Best rank it may have: 1 + the number of bots that are better with 95 % confidence."""
    rank_high: int
    """Worst rank it may have: the number of bots that are not worse with 95 % confidence."""
    best: float
    """Probability that it is the best bot of the ladder."""
    matches: int
    opponents: int


class FlagKind(Enum):
    """The kinds of results that are unlikely under the ratings."""

    PAIR = "pair"
    """A bot does better against another bot than their ratings say."""
    OWNERS = "owners"
    """The bots of one owner do better against those of another owner than their ratings say."""
    LIFT = "lift"
    """A bot's rating would be lower without its results against the bots of one owner."""
    OPPONENTS = "opponents"
    """A bot does better than the ratings say against many others, by a little against each."""
    CHANGE = "change"
    """A version's newer half of results differs from its older half."""


class Flag(NamedTuple):
    """Improbable results under the fit. They prove nothing, and no rating depends on them."""

    kind: FlagKind
    node: Node
    """The gaining bot's version on the ladder; for owners, that of the bot that gains most."""
    other: Node | None
    """The bot that it gains from, or one of the owner's bots; None for many opponents and for a change."""
    matches: int
    """Number of compared results."""
    size: float
    """For pairs and opponents, the mean score above the expected one; otherwise Elo."""
    errors: float
    """`size` in standard errors; for many opponents, the number of standard errors that is equally improbable."""


class FieldFigures(NamedTuple):
    """Figures that all ratings of a ladder share, in Elo."""

    scale_error: float
    """Standard error of the scale: of the anchors' mean, which is set to 1500, relative to the field."""
    centre: float
    """The centre of the strengths, towards which ratings are shrunk."""
    spread: float
    """The spread of the strengths about it."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ladder after a given event."""

    lines: tuple[LadderLine, ...]
    """The newest versions, best first."""
    figures: tuple[Figure, ...]
    """One figure for every entrant, in the order of their nodes."""
    through: int
    """Number of the last event included."""
    digest: str
    """SHA-256 of `lines`, `figures` and `field` in hex; without `through`, so that a voided match leaves no trace."""
    field: FieldFigures
    luck: tuple[LuckFigures, ...] = ()
    """The luck column, by node. It is not part of the digest and affects no rating."""
    replayed: int = 0
    """Number of the last baseline included in the luck column."""
    flags: tuple[Flag, ...] = ()
    """The flags, the most certain first. They are not part of the digest and affect no rating."""
    quota: Quota = NO_QUOTA
    """The quota by which it was fitted. Its effect is part of the digest."""
