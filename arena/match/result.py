"""Final places, and the pairs of seats that count for ratings.

Bots that vanished come last; the others are ranked among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from arena.match.policy import Policy
from arena.match.seat import Seat

RATING_RULE: Final = 2
"""The rating rule, which determines how ratings follow from a result (docs/ladder.md) and which pairs count
(docs/conduct.md).

Rule 1: if a seat is spoilt, the result counts only for the bots that vanished, against every opponent. Rule 2: each
pair of seats counts or not independently of the others; see `Standing.spoilt`.
"""


class Standing(NamedTuple):
    """The result of a match apart from its points, by seat."""

    places: tuple[int, ...]
    counts: tuple[bool, ...]
    """True if at least one pair with this seat counts for its bot."""
    spoilt: tuple[bool, ...]
    """True if a house bot played the seat in too many rounds.

    Such a seat loses to every seat that is not spoilt, and does not change that seat's rating. Empty under rule 1.
    """


def standing(
    ranking: Sequence[int], rounds: int, seats: Iterable[Seat], policy: Policy, rating_rule: int = RATING_RULE
) -> Standing:
    """Compute the places and the pairs that count.

    A bot has vanished if a house bot plays its seat at the end, or did so in more than `policy.substituted_percent` of
    the rounds. In the latter case the seat is spoilt.
    """
    played_on = [(100 * seat.substituted_rounds > policy.substituted_percent * rounds, seat) for seat in seats]
    vanished = [much or seat.substituted for much, seat in played_on]
    there = [rank for rank, gone in zip(ranking, vanished, strict=True) if not gone]
    places = tuple(
        1 + len(there) if gone else 1 + sum(other < rank for other in there)
        for rank, gone in zip(ranking, vanished, strict=True)
    )
    spoilt = tuple([much for much, _ in played_on])
    if rating_rule == 1:
        return Standing(places, tuple(gone or not any(spoilt) for gone in vanished), ())
    whole = spoilt.count(False)
    return Standing(places, tuple([whole > (0 if much else 1) for much in spoilt]), spoilt)
