"""Continuations of a round of Nullern: hands that fit the bids, and seats that play by the value of one more trick."""

from collections.abc import Sequence
from functools import cache
from typing import cast

from arena_client.samples.playouts import Playouts, in_order, take_or_duck
from engine.game import RoundReport
from engine.nullern import NULLERN, NullernView
from engine.nullern.cards import BID, CARDS
from engine.nullern.score import HUPFER_COST, POINTS
from engine.nullern.state import NullernState
from engine.nullern.tricks import RANKING
from engine.nullern.view import NullernRound

PLAIN = 20
"""The highest rank of a card that is not a trump."""
MARGIN = 0.1
"""Number added to a hand's strength in tricks before it is rounded down to a bid."""


class NullernPlayouts(Playouts):
    """The rest of a round of Nullern."""

    tried, word, spread = 6, 10, 15.0

    def __init__(self, view: NullernView) -> None:
        super().__init__(NULLERN, view)
        self.ranks = RANKING[CARDS[view.turned].colour]
        looks = looks_of(view.seats)
        self.looks = [looks[rank] for rank in self.ranks]
        self.expected = [
            (seat, (2 * (bid - 1) + view.hand_size / view.seats) / 3)
            for seat, bid in enumerate(view.bids)
            if bid and view.hand and seat != view.seat
        ]
        """For each other seat that saw its cards when it bid: the seat, and the hand strength that its bid suggests."""
        self.played = [0.0] * view.seats
        for number, card in enumerate(view.plays):
            self.played[(view.leaders[number // view.seats] + number) % view.seats] += self.looks[card]

    def standing(self) -> Sequence[int]:
        missed = zip(self.view.scores, self.view.hupfers, strict=True)
        return [score - HUPFER_COST * hupfers for score, hupfers in missed]

    def wants(self, view: NullernView | NullernState, seat: int, taken: int, done: int) -> bool:
        """Return true if a seat with `taken` tricks wants the next trick, after `done` tricks of the round."""
        bids, seats = view.bids, view.seats
        rival = bids[1 - seat] - 1 if seats == 2 else -1
        return of_use(bids[seat] - 1, rival, view.hand_size, taken, seats, view.hand_size - done)

    def misfit(self, state: NullernState) -> float:
        """Return the distance between the others' bids and the tricks expected from their hands."""
        found = 0.0
        for seat, tricks in self.expected:
            found += (self.played[seat] + self.strength(state.hands[seat]) - tricks) ** 2
        return found

    def copy(self, state: NullernState) -> NullernState:
        return NullernState(state.seats, in_order, like=state)  # type: ignore[arg-type]

    def choose(self, state: NullernState, seat: int) -> int:
        """Take the trick if the seat wants it; otherwise duck."""
        legal = state.legal(seat)
        if legal[0] >= BID:
            return legal[0 if state.blind else int(self.strength(state.hands[seat]) + MARGIN)]
        if len(legal) == 1:
            return legal[0]
        seats, done = state.seats, len(state.takers)
        trick = state.plays[done * seats :].translate(self.ranks)
        wanted = self.wants(state, seat, state.taken[seat], done)
        return take_or_duck(legal, self.ranks, max(trick, default=0), wanted=wanted, last=len(trick) == seats - 1)

    def points(self, report: RoundReport) -> Sequence[int]:
        over = cast("NullernRound", report)
        return [points - HUPFER_COST * missed for points, missed in zip(over.points, over.missed, strict=True)]

    def strength(self, hand: bytes) -> float:
        """Estimate the number of tricks that a hand takes."""
        return sum([self.looks[card] for card in hand])


@cache
def looks_of(seats: int) -> list[float]:
    """Return for each rank the chance that a card of that rank takes a trick."""
    plain = [(rank / PLAIN) ** (2 * (seats - 1)) for rank in range(PLAIN + 1)]
    return plain + [0.55 + 0.02 * rank for rank in range(1, 256 - PLAIN)]


@cache
def of_use(bid: int, rival: int, size: int, taken: int, seats: int, left: int) -> bool:
    """Return true if a seat gains by taking this trick, regardless of who takes the later tricks.

    `rival`: the other seat's bid with two seats, where each seat gains the other's loss; −1 with more seats.
    """
    with_it, without = (prospect(bid, rival, size, taken + more, seats, left - 1) for more in (1, 0))
    return with_it > without


@cache
def prospect(bid: int, rival: int, size: int, taken: int, seats: int, left: int) -> float:
    """Return the expected points with `taken` tricks taken and `left` tricks to play."""
    if left:
        with_it, without = (prospect(bid, rival, size, taken + more, seats, left - 1) for more in (1, 0))
        return without + (with_it - without) / seats
    own = POINTS[bid][taken] - HUPFER_COST * (bid != taken)
    theirs = size - taken
    return own if rival < 0 else own - (POINTS[rival][theirs] - HUPFER_COST * (rival != theirs))
