"""One game of Leduc poker in progress."""

from __future__ import annotations

from copy import copy
from operator import index
from typing import Any, SupportsIndex

from engine.leduc.betting import closed, legal, paid
from engine.leduc.cards import CARDS, FOLD, RANK
from engine.leduc.observation import fields, vector
from engine.leduc.view import LeducRound, LeducView

from engine.game import OVER, Decks, places
from engine.observation import write

ANTE = 1
SIZES = (2, 4)
"""Size of a raise in each betting round (L3)."""
SEATS = 2


class LeducState:
    """The cards, the round's actions and the points. Every attribute is immutable."""

    def __init__(self, rounds: int, decks: Decks) -> None:
        self.rounds, self._decks = rounds, decks
        self.scores: tuple[int, ...] = (0,) * SEATS
        self.report: LeducRound | None = None
        self.deal(0)

    def __repr__(self) -> str:
        return "LeducState(secret)"

    def deal(self, number: int) -> None:
        """Begin a round (L1)."""
        self.round = number
        *cards, self.board = self._decks(number, len(CARDS), SEATS + 1)
        self.cards = bytes(cards)
        self.first = self.second = b""

    @property
    def opener(self) -> int:
        """The seat that acts first (L2)."""
        return self.round % SEATS

    @property
    def player(self) -> int:
        """The seat to act."""
        if self.report is not None and self.report.round == self.rounds - 1:
            return OVER
        return (self.opener + len(self.bets)) % SEATS

    @property
    def bets(self) -> bytes:
        """The actions of the current betting round."""
        return self.second if closed(self.first) else self.first

    def waiting(self) -> tuple[int, ...]:
        """Return a tuple with the seat to act; after the end it is empty."""
        return () if self.player == OVER else (self.player,)

    def legal(self, seat: SupportsIndex) -> tuple[int, ...]:
        """Return the legal actions of the seat to act (L3)."""
        return legal(self.bets)

    def fallback(self, seat: SupportsIndex) -> int:
        """Return the default action of a silent seat: fold to a raise, otherwise check."""
        return self.legal(seat)[0]

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        """Apply an action of a seat."""
        if closed(self.first):
            self.second += bytes([action])
        else:
            self.first += bytes([action])
        if action == FOLD or closed(self.second):
            self._settle()

    def _settle(self) -> None:
        """Pay out the round and deal the next (L4, L5)."""
        stakes = [
            ANTE + first + second
            for first, second in zip(paid(self.first, SIZES[0]), paid(self.second, SIZES[1]), strict=True)
        ]
        place = self._winner()
        won = [0, 0]
        if place is not None:
            won = [-stakes[0], stakes[0]] if place else [stakes[1], -stakes[1]]
        points = (won[-self.opener], won[1 - self.opener])
        self.scores = tuple(score + more for score, more in zip(self.scores, points, strict=True))
        self.report = LeducRound(
            self.round, points, self.scores, self.opener, self.cards, self.board, self.first, self.second
        )
        if self.round + 1 < self.rounds:
            self.deal(self.round + 1)

    def _winner(self) -> int | None:
        """Return the position of the pot's winner (the opener is 0), or None for a tie."""
        last = self.second or self.first
        if last[-1] == FOLD:
            return len(last) % 2
        strengths = []
        for place in range(SEATS):
            rank = RANK[self.cards[(self.opener + place) % SEATS]]
            strengths.append((rank == RANK[self.board], rank))
        return None if strengths[0] == strengths[1] else int(strengths[1] > strengths[0])

    def clone(self) -> LeducState:
        """Return an independent copy."""
        return copy(self)

    def view(self, seat: SupportsIndex) -> LeducView:
        """Return the seat's view of the game."""
        return LeducView(
            seat=index(seat),
            seats=SEATS,
            round=self.round,
            rounds=self.rounds,
            opener=self.opener,
            card=self.cards[seat],
            board=self.board if closed(self.first) and self.first[-1] != FOLD else None,
            first=self.first,
            second=self.second,
            scores=self.scores,
        )

    def vector(self, seat: SupportsIndex) -> list[float]:
        """Return the seat's view as a list of numbers."""
        return vector(self.view(seat))

    def vector_into(self, seat: SupportsIndex, array: Any) -> None:
        """Write the seat's view as numbers into an array."""
        write(self.vector(seat), fields(), array)

    def ranking(self) -> tuple[int, ...]:
        """Return the place of each seat."""
        return places(self.scores)
