"""The ladder as a list: what every bot's matches add up to, best first. It changes nothing and rates nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.ladder.live import Rating


@dataclass(frozen=True, slots=True)
class Record:
    """What the matches of one bot in one game add up to."""

    bot: str
    owner: str
    house: bool
    rating: Rating
    matches: int
    wins: int
    """Matches won, shared first places included."""
    rank_sum: float
    """Sum of the relative ranks of its matches."""
    last_change: float
    """Elo won or lost in the last match."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a ladder."""

    rank: int
    """1 is the best; equal ratings share a rank."""
    record: Record

    @property
    def mean_rank(self) -> float:
        """Mean relative rank: 0 is always first, 1 always last."""
        return self.record.rank_sum / self.record.matches


def relative_rank(place: int, seats: int) -> float:
    """A place (1 the best) on a scale from 0, first, to 1, last."""
    return (place - 1) / (seats - 1)


def standings(records: Iterable[Record]) -> tuple[Standing, ...]:
    """The ladder: highest rating first, equal ratings by name."""
    ordered = sorted(records, key=lambda record: (-record.rating.value, record.bot.lower()))
    lines: list[Standing] = []
    for number, record in enumerate(ordered, start=1):
        tied = lines and lines[-1].record.rating.value == record.rating.value
        lines.append(Standing(lines[-1].rank if tied else number, record))
    return tuple(lines)
