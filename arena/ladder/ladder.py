"""A ladder as plain values, which `arena.ladder.fitted` computes and a server stores and publishes.

This module does not import NumPy, because the server's own process must not load it.
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
"""Minimum number of opponents for a rating that is not provisional. If fewer bots are established, that number."""


class Quota(NamedTuple):
    """Limits on how many matches between two guests count. 0 means no limit."""

    day: int = 0
    """The limit per day, in UTC."""
    week: int = 0
    """The limit per week, from Monday on in UTC. It applies to the sum of the matches that count on its days."""
    young_days: int = 0
    """Number of days after its first result for which a bot counts as young. 0 if no bot counts as young. For an older
    bot that mostly meets older bots, all young bots together count as one bot.
    """

    @property
    def bounds(self) -> bool:
        """True if any limit is set."""
        return bool(self.day or self.week)


NO_QUOTA: Final = Quota()


def established(error: float) -> bool:
    """Return True if a bot with this standard error (in Elo) is known well enough to count as an opponent."""
    return error <= ESTABLISHED_MAX_ERROR


def provisional(error: float, opponents: int, others: int) -> bool:
    """Return True if too little is known about a bot to rely on its rating.

    `error` is the standard error of its fitted rating. `opponents` is the number of bots that it has met. `others` is
    the number of established bots that it could have met. These do not include newcomers, so a newcomer cannot make a
    bot provisional again.
    """
    return not established(error) or opponents < min(ESTABLISHED_MIN_OPPONENTS, others)


class Figure(NamedTuple):
    """Rating of one node: a version on the ladder or an older version."""

    node: Node
    rating: float
    """The rating in Elo."""
    error: float
    """Standard error in Elo, without the scale's error. It is the empirical error, but at least the model's error if
    that exceeds 40.

    For an older version, the opponents' strengths are assumed to be known.
    """
    matches: int
    """Number of matches that count for the node."""
    opponents: int
    """Number of different bots that the node played in them. Versions of one bot count once."""


class LadderLine(NamedTuple):
    """One bot on the ladder, represented by its newest version."""

    node: Node
    rating: float
    error: float
    """Standard error of the rating, as in `Figure.error`."""
    shrunk: float
    """The rating that is published and ranked: the strength's posterior mean in Elo (see `arena.ladder.shrinkage`)."""
    shrunk_error: float
    """Posterior standard deviation in Elo. The 95 % interval is `shrunk` ± 1.96 deviations."""
    rank: int
    """Rank by `shrunk`. 1 is the best, and equal ratings share a rank."""
    rank_low: int
    """Best rank that the bot may have: 1 + the number of bots that are better with 95 % confidence."""
    rank_high: int
    """Worst rank that the bot may have: the number of bots that are not worse with 95 % confidence, itself included."""
    best: float
    """Probability that the bot is the best on the ladder."""
    matches: int
    opponents: int


class FlagKind(Enum):
    """The kinds of results that are unlikely under the ratings."""

    PAIR = "pair"
    """A bot scores better against another bot than their ratings predict."""
    OWNERS = "owners"
    """The bots of one owner score better against another owner's bots than the ratings predict."""
    LIFT = "lift"
    """A bot's rating would be lower without its results against the bots of one owner."""
    OPPONENTS = "opponents"
    """A bot scores better than predicted against many other bots, by a little against each."""
    CHANGE = "change"
    """The newer half of a version's results differs from the older half."""


class Flag(NamedTuple):
    """Improbable results under the fit. They prove nothing, and no rating depends on them."""

    kind: FlagKind
    node: Node
    """The version of the gaining bot on the ladder. For owners, it belongs to the owner's bot that gains most."""
    other: Node | None
    """The version from which the bot gains, or one of the other owner's bots; None for many opponents or a change."""
    matches: int
    """Number of compared results."""
    size: float
    """For a pair, owners or opponents: the mean score minus the expected score. Otherwise a difference in Elo."""
    errors: float
    """`size` in standard errors. For many opponents, the number of standard errors at which a normally distributed
    value is equally improbable.
    """


class FieldFigures(NamedTuple):
    """Figures that all ratings of a ladder share, in Elo."""

    scale_error: float
    """Standard error of the scale: of the anchors' mean, which is set to 1500, relative to the field."""
    centre: float
    """The centre of the strengths, towards which ratings are shrunk."""
    spread: float
    """The spread of the strengths about the centre."""


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
    """SHA-256 of `lines`, `figures` and `field`, in hex; without `through`, so an annulled match has no effect."""
    field: FieldFigures
    luck: tuple[LuckFigures, ...] = ()
    """The luck columns by node. They are not part of the digest and affect no rating."""
    replayed: int = 0
    """Number of the last baseline included in the luck columns."""
    flags: tuple[Flag, ...] = ()
    """The flags, the most certain first. They are not part of the digest and affect no rating."""
    quota: Quota = NO_QUOTA
    """The quota under which the ladder was fitted. Its effect is part of the digest."""
