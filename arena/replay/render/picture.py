"""What is to be seen of a round of tricks at one step, by one seat or by somebody who sees everything.

A picture is put together from the engine's own views, so it shows a seat neither more nor less than the seat was shown.
Each game adds what is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.match.effects import Cause
from engine.game import RoundReport, SeatView, State

ViewT = TypeVar("ViewT", bound=SeatView)


@dataclass(frozen=True, slots=True)
class Picture:
    """A round; what goes by seat or by trick has one entry each."""

    dealer: int
    turned: int | None
    hands: tuple[bytes | None, ...]
    """None where the hand is hidden."""
    plays: bytes
    """Of all tricks, one after the other."""
    leaders: bytes
    takers: bytes
    """By trick that was played out; the number of seats where nobody took it."""
    taken: bytes
    scores: tuple[int, ...]
    """After the round where it is over, before it where not."""
    points: tuple[int, ...] | None
    """Of the round where it is over."""

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.hands)

    @property
    def begun(self) -> int:
        """The number of tricks that have a card."""
        return -(-len(self.plays) // self.seats)

    def trick(self, number: int) -> bytes:
        """The plays of one trick."""
        return self.plays[number * self.seats : (number + 1) * self.seats]

    def player(self, number: int, place: int) -> int:
        """The seat that plays to a trick at a place."""
        return (self.leaders[number] + place) % self.seats

    def taker(self, number: int) -> int | None:
        """Who took a trick; None while it is not played out."""
        return self.takers[number] if number < len(self.takers) else None


@dataclass(frozen=True, slots=True)
class Marks:
    """Which choices of a round the server made."""

    plays: Sequence[Cause | None]
    """In the order of play."""

    def play(self, seen: Picture, number: int, place: int) -> Cause | None:
        """Why the server made a play, if it did."""
        return self.plays[number * seen.seats + place]


def views(state: State[SeatView, RoundReport], seat: int | None, kind: type[ViewT]) -> Sequence[ViewT]:
    """The view of one seat, or those of all seats."""
    found = [state.view(each) for each in (range(len(state.scores)) if seat is None else (seat,))]
    return [view for view in found if isinstance(view, kind)]


def emptied(hands: tuple[bytes | None, ...]) -> tuple[bytes | None, ...]:
    """The hands after the last card was played."""
    return tuple(None if hand is None else b"" for hand in hands)
