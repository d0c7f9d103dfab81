"""A ladder as plain values: made by `arena.ladder.fitted`, kept by the store, shown to people. It computes nothing.

It does not import NumPy, which the server's own process never loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from arena.ladder.events import Node
from arena.ladder.luck_columns import LuckFigures
from arena.ladder.quota import NO_QUOTA, Quota

ESTABLISHED_MAX_ERROR: Final = 40.0
"""Largest standard error, in Elo, of a rating that is not provisional."""
ESTABLISHED_MIN_OPPONENTS: Final = 8
"""Fewest distinct opponents of a rating that is not provisional, where there are so many."""


def established(error: float) -> bool:
    """True if a fitted rating with this standard error, in Elo, is known well enough to be an opponent that counts."""
    return error <= ESTABLISHED_MAX_ERROR


def provisional(error: float, opponents: int, others: int) -> bool:
    """True if too little is known of a bot to rely on its rating.

    `error` is that of its fitted rating, `opponents` are the bots that it has met, `others` the established ones that
    it could have met: a newcomer makes nobody provisional again.
    """
    return not established(error) or opponents < min(ESTABLISHED_MIN_OPPONENTS, others)


class Figure(NamedTuple):
    """Rating of one node, on the ladder or an older version."""

    node: Node
    rating: float
    """Elo."""
    error: float
    """Standard error in Elo without the scale's: the empirical one, and at least the model's while that is above 40.

    That of an older version takes the opponents that it met as known.
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
    """As in its figure."""
    shrunk: float
    """The rating that is shown and ranked: the strength's posterior mean in Elo, see `arena.ladder.shrinkage`."""
    shrunk_error: float
    """Posterior standard deviation in Elo; the 95 % interval is `shrunk` ± 1.96 of it."""
    rank: int
    """By `shrunk`; 1 is the best, and equal ones share a rank."""
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
    """A bot does better against one other than their ratings say."""
    OWNERS = "owners"
    """The bots of one owner do better against those of one other than their ratings say."""
    LIFT = "lift"
    """A bot's rating would be lower without its results against the bots of one owner."""
    OPPONENTS = "opponents"
    """A bot does better against many others, little against each, than their ratings say."""
    CHANGE = "change"
    """A version's newer half of results differs from its older half."""


class Flag(NamedTuple):
    """Results that stand out from what the fit expects. It is no verdict, and no rating depends on it."""

    kind: FlagKind
    node: Node
    """The bot that gains, by the version on the ladder; of owners, the one of their bots that gains most."""
    other: Node | None
    """The bot, or one of the owner's, that it gains from; None for many opponents and for a change."""
    matches: int
    """Results that were compared."""
    size: float
    """Mean score above the expected one, of pairs and of the opponents that a bot gains from; else Elo."""
    errors: float
    """`size` in standard errors; of many opponents, those beyond which a normal error is as seldom."""


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
    """One for every entrant, in the order of their nodes."""
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
    """The rule by which it was fitted. What it bounds is part of the digest."""
