"""Places at the end of a match: bots that vanished come last, the others are ranked among themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.match.policy import Policy
from arena.match.seat import Seat


def final_places(
    ranking: Sequence[int], rounds: int, seats: Iterable[Seat], policy: Policy
) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Compute by seat the place and whether the result counts for the bot.

    A bot has vanished if a house bot plays its seat at the end, or did so in more than `policy.substituted_percent` of
    the rounds. In the latter case the result counts for vanished bots only: too much of it was the house bot's doing.
    """
    played_on = [(100 * seat.substituted_rounds > policy.substituted_percent * rounds, seat) for seat in seats]
    vanished = [much or seat.substituted for much, seat in played_on]
    there = [rank for rank, gone in zip(ranking, vanished, strict=True) if not gone]
    places = tuple(
        1 + len(there) if gone else 1 + sum(other < rank for other in there)
        for rank, gone in zip(ranking, vanished, strict=True)
    )
    spoilt = any(much for much, _ in played_on)
    return places, tuple(gone or not spoilt for gone in vanished)
