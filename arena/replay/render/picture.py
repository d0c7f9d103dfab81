"""The visible state of a round of a trick-taking game at one step, for one seat or with all hands open.

A picture is built from the engine's views, so it shows exactly the information that the seat received. Games extend it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.match.effects import Cause

PLAYS: Final = frozenset({"play", "block"})
"""Kinds of actions that play a card to a trick."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The visible state of a round. Sequences have one entry per seat or trick."""

    dealer: int
    turned: int | None
    """The card turned up for trump, if any."""
    hands: tuple[bytes | None, ...]
    """Hands by seat, where None is a hidden hand."""
    plays: bytes
    """Plays of all tricks, one trick after another."""
    leaders: bytes
    takers: bytes
    """Winners of the finished tricks. The number of seats stands for a trick without a winner."""
    taken: bytes
    """Number of tricks won, by seat."""
    hand_size: int
    """Number of cards dealt to each seat."""
    scores: tuple[int, ...]
    """Scores by seat, including this round once it is over."""
    points: tuple[int, ...] | None
    """Points of the round by seat, or None until the round is over."""

    @property
    def seats(self) -> int:
        """Number of seats."""
        return len(self.hands)

    @property
    def begun(self) -> int:
        """Number of tricks with at least one card."""
        return -(-len(self.plays) // self.seats)

    @property
    def turn(self) -> int | None:
        """The seat that must play a card next. None if another choice is due or the round is over."""
        if not self.leaders or self.points is not None:
            return None
        place = len(self.plays) - (len(self.leaders) - 1) * self.seats
        return (self.leaders[-1] + place) % self.seats if 0 <= place < self.seats else None

    def held(self, seat: int, aside: int) -> int:
        """Return the number of cards in a hand, hidden or not. `aside` is the number of cards laid aside."""
        hand = self.hands[seat]
        if hand is not None:
            return len(hand)
        played = sum(self.player(*divmod(place, self.seats)) == seat for place in range(len(self.plays)))
        return max(self.hand_size - aside - played, 0)

    def trick(self, number: int) -> bytes:
        """Return the plays of one trick."""
        return self.plays[number * self.seats : (number + 1) * self.seats]

    def player(self, number: int, place: int) -> int:
        """Return the seat that plays to a trick at a position, from 0."""
        return (self.leaders[number] + place) % self.seats

    def taker(self, number: int) -> int | None:
        """Return the seat that won a trick, or None while the trick is not finished."""
        return self.takers[number] if number < len(self.takers) else None


@dataclass(frozen=True, slots=True)
class Marks:
    """The reasons for the server's choices in a round. None for a bot's own choice."""

    plays: Sequence[Cause | None]
    """Causes in the order of play."""

    def play(self, seen: Picture, number: int, place: int) -> Cause | None:
        """Return the reason why the server made a play, or None if the bot made it."""
        return self.plays[number * seen.seats + place]


def emptied(hands: tuple[bytes | None, ...]) -> tuple[bytes | None, ...]:
    """Return the hands after the last card of a round was played."""
    return tuple(None if hand is None else b"" for hand in hands)
