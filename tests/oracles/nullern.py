"""A slow, simple reference implementation of Nullern, written from the rulings, for comparison with the fast engine.

It shares no code with the engine. A card is a pair such as ("red", 7). Actions are strings.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

COLOURS = ["red", "yellow", "green", "blue"]

PlainCard = tuple[str, int]


def card_named(name: str) -> PlainCard:
    colour, value = name.split(" ")
    return colour, int(value)


def name_of(card: PlainCard) -> str:
    return f"{card[0]} {card[1]}"


@dataclass
class Trick:
    leader: int
    plays: list[tuple[int, PlainCard]] = field(default_factory=list)
    """Seats and cards of the trick, in the order of play."""

    def find_taker(self, trump: str) -> int:
        """Return the winner of the trick (N6)."""
        trumps = [(seat, card) for seat, card in self.plays if card[0] == trump]
        best_seat, best_card = (trumps or self.plays)[0]
        for seat, card in trumps or self.plays:
            if card[1] > best_card[1]:
                best_seat, best_card = seat, card
        return best_seat


class PlainGame:
    """A whole game. `decks` contains the deck of each round with at least as many cards as needed."""

    def __init__(self, seats: int, decks: list[list[PlainCard]]) -> None:
        self.seats = seats
        self.decks = decks
        self.sizes = [*range(1, 11), *range(9, 0, -1), 1]
        self.scores = [0] * seats
        self.hupfers = [0] * seats
        self.round = -1
        self.over = False
        self.last_round: dict[str, object] | None = None
        self.deal()

    def clone(self) -> PlainGame:
        other = copy(self)
        other.scores = list(self.scores)
        other.hupfers = list(self.hupfers)
        other.hands = [list(hand) for hand in self.hands]
        other.bids = list(self.bids)
        other.tricks = [replace(trick, plays=list(trick.plays)) for trick in self.tricks]
        return other

    def deal(self) -> None:
        """Deal a round (N1, N2, N3)."""
        self.round += 1
        self.size = self.sizes[self.round]
        self.blind = self.round == 19
        self.dealer = self.round % self.seats
        deck = list(self.decks[self.round])
        self.hands: list[list[PlainCard]] = []
        for _ in range(self.seats):
            self.hands.append(deck[: self.size])
            del deck[: self.size]
        self.turned = deck[0]
        self.bids: list[tuple[int, int]] = []
        """Seats and bids in the order of bidding."""
        self.tricks: list[Trick] = []

    def bidding(self) -> bool:
        return len(self.bids) < self.seats

    def waiting(self) -> list[int]:
        if self.over:
            return []
        if self.bidding():
            return [(self.dealer + 1 + len(self.bids)) % self.seats]
        trick = self.tricks[-1]
        return [(trick.leader + len(trick.plays)) % self.seats]

    def legal(self, seat: int) -> set[str]:
        if self.bidding():
            return {f"bid {bid}" for bid in range(self.size + 1)}
        if self.blind:
            return {"play the blind card"}
        playable = list(self.hands[seat])
        plays = self.tricks[-1].plays
        if plays and plays[0][1][0] == self.turned[0]:
            trumps = [card for card in playable if card[0] == self.turned[0]]
            playable = trumps or playable
        return {name_of(card) for card in playable}

    def dull(self, seat: int) -> set[str]:
        """Return the possible default choices for a silent seat. These include all legal plays, because only the engine
        orders plays.
        """
        if not self.bidding():
            return self.legal(seat)
        best = 0
        for bid in range(self.size + 1):
            if abs(bid * self.seats - self.size) < abs(best * self.seats - self.size):
                best = bid
        return {f"bid {best}"}

    def act(self, seat: int, name: str) -> None:
        if name.startswith("bid "):
            self.bids.append((seat, int(name.split(" ")[1])))
            if not self.bidding():
                highest = max(bid for _, bid in self.bids)
                self.tricks.append(Trick(next(seat for seat, bid in self.bids if bid == highest)))
            return
        card = self.hands[seat][0] if self.blind else card_named(name)
        self.hands[seat].remove(card)
        trick = self.tricks[-1]
        trick.plays.append((seat, card))
        if len(trick.plays) < self.seats:
            return
        if self.hands[seat]:
            self.tricks.append(Trick(trick.find_taker(self.turned[0])))
        else:
            self.end_round()

    def end_round(self) -> None:
        """End the round (N7)."""
        taken = self.taken()
        bids = dict(self.bids)
        points, missed = [], []
        for seat in range(self.seats):
            tricks = taken[seat]
            if bids[seat] == tricks:
                points.append(20 if tricks == 0 else 10 + tricks)
                missed.append(0)
            else:
                points.append(tricks)
                missed.append(1)
            self.scores[seat] += points[seat]
            self.hupfers[seat] += missed[seat]
        self.over = self.round == 19
        if self.over:
            for seat in range(self.seats):
                self.scores[seat] -= 5 * self.hupfers[seat]
        self.last_round = {
            "round": self.round,
            "points": points,
            "scores": list(self.scores),
            "turned": self.turned,
            "bids": [bids[seat] for seat in range(self.seats)],
            **self.table(),
            "missed": missed,
            "hupfers": list(self.hupfers),
        }
        if not self.over:
            self.deal()

    def takers(self) -> list[int]:
        return [trick.find_taker(self.turned[0]) for trick in self.tricks if len(trick.plays) == self.seats]

    def taken(self) -> list[int]:
        return [self.takers().count(seat) for seat in range(self.seats)]

    def table(self) -> dict[str, object]:
        """Return the public part of the state."""
        return {
            "plays": [card for trick in self.tricks for _, card in trick.plays],
            "leaders": [trick.leader for trick in self.tricks],
            "takers": self.takers(),
            "taken": self.taken(),
        }

    def places(self) -> list[int]:
        """Return the final places (N9)."""
        better_first = sorted(self.scores, reverse=True)
        return [better_first.index(score) + 1 for score in self.scores]

    def seen(self, seat: int) -> dict[str, object]:
        """Return the facts that the seat may know, with cards instead of indices."""
        bids = dict(self.bids)
        return {
            "seat": seat,
            "seats": self.seats,
            "round": self.round,
            "rounds": 20,
            "dealer": self.dealer,
            "hand_size": self.size,
            "turned": self.turned,
            "hand": [] if self.blind else sorted(self.hands[seat], key=lambda card: (COLOURS.index(card[0]), card[1])),
            "bids": [bids[other] + 1 if other in bids else 0 for other in range(self.seats)],
            **self.table(),
            "scores": self.scores,
            "hupfers": self.hupfers,
        }
