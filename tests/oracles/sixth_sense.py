"""A slow, simple reference implementation of 6th Sense, written from the rulings, for comparison with the fast engine.

It shares no code with the engine. A card is a pair such as ("red", 7), and a 6/9 is ("red", 69). Actions are strings.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

COLOURS = ["red", "yellow", "green", "blue", "purple"]
VALUES = [0, 1, 2, 3, 4, 5, 69, 7, 8, 10, 11, 12, 13, 14]

PlainCard = tuple[str, int]


def card_named(name: str) -> PlainCard:
    colour, value = name.split(" ")
    return colour, int(value.replace("/", ""))


def name_of(card: PlainCard) -> str:
    return f"{card[0]} {'6/9' if card[1] == 69 else card[1]}"


@dataclass
class Play:
    """One card of a trick."""

    seat: int
    card: PlainCard
    value: int
    blocks: int | None = None
    """The place in the trick that this card blocks, from 0."""

    def name(self, seen_by: int | None) -> str:
        """Return the action's name as the seat `seen_by` sees it; None sees all cards."""
        if self.blocks is not None:
            colour = self.card[0] if seen_by in (None, self.seat) else "a"
            return f"{colour} 0 blocks place {self.blocks + 1}"
        if self.card[1] == 69:
            return f"{self.card[0]} {'6' if self.value == 6 else '6 as 9'}"
        return f"{self.card[0]} {self.card[1]}"


@dataclass
class Trick:
    leader: int
    plays: list[Play] = field(default_factory=list)
    taker: int | None = None
    completed: bool = False
    split: bool = False
    peeked: bool = False

    def counting(self) -> list[Play]:
        """Return the cards that count: neither a block nor the card under it (S7)."""
        gone = []
        for place, play in enumerate(self.plays):
            if play.blocks is not None:
                gone += [place, play.blocks]
        return [play for place, play in enumerate(self.plays) if place not in gone]

    def led_colour(self) -> str | None:
        """Return the led colour (S6)."""
        counting = self.counting()
        return counting[0].card[0] if counting else None

    def find_taker(self, trump: str | None) -> int | None:
        """Return the winner of the trick (S8, S9, S10)."""
        counting = self.counting()
        if not counting:
            return None
        fours = [play for play in counting if play.value == 4]
        trumps = [play for play in counting if play.card[0] == trump]
        followers = [play for play in counting if play.card[0] == self.led_colour() and play not in trumps]
        others = [play for play in counting if play not in trumps and play not in followers]
        if len(fours) % 2 == 0:
            best = trumps or followers or others
            highest = max(play.value for play in best)
            return next(play.seat for play in best if play.value == highest)
        worst = others or followers or trumps
        lowest = min(play.value for play in worst)
        return [play.seat for play in worst if play.value == lowest][-1]

    def worth(self) -> int:
        if self.taker is None:
            return 0
        return 2 if self.split else 1


class PlainGame:
    """A whole game. `decks` contains the deck of each round with at least as many cards as needed."""

    def __init__(
        self,
        seats: int,
        decks: list[list[PlainCard]],
        *,
        size: int | None = None,
        novice: bool = False,
        target: int = 0,
        late_trump: bool = False,
    ) -> None:
        self.seats = seats
        self.decks = decks
        self.novice, self.target, self.late_trump = novice, target, late_trump
        self.size = size or {6: 11, 5: 13, 4: 14, 3: 14, 2: 15}[seats]
        self.rounds = {6: 6, 5: 5, 4: 4, 3: 6, 2: 6}[seats]
        self.scores = [0] * seats
        self.round = -1
        self.over = False
        self.last_round: dict[str, object] | None = None
        self.deal()

    def clone(self) -> PlainGame:
        other = copy(self)
        other.scores = list(self.scores)
        other.hands = [list(hand) for hand in self.hands]
        other.predictions = list(self.predictions)
        other.tricks = [replace(trick, plays=list(trick.plays)) for trick in self.tricks]
        other.questions = list(self.questions)
        return other

    def deal(self) -> None:
        self.round += 1
        self.dealer = self.round % self.seats
        deck = list(self.decks[self.round])
        self.hands: list[list[PlainCard]] = []
        for _ in range(self.seats):
            self.hands.append(deck[: self.size])
            del deck[: self.size]
        self.next_card = None if self.novice else deck[0]
        self.predictions: list[PlainCard | None] = [None] * self.seats
        self.tricks: list[Trick] = []
        self.questions: list[str] = []

    def turned(self) -> PlainCard | None:
        if self.late_trump and None in self.predictions:
            return None
        return self.next_card

    def waiting(self) -> list[int]:
        if self.over:
            return []
        if None in self.predictions:
            return [seat for seat in range(self.seats) if self.predictions[seat] is None]
        trick = self.tricks[-1]
        if self.questions:
            if self.questions[0] == "peek":
                return [trick.leader]
            assert trick.taker is not None
            return [trick.taker]
        return [(trick.leader + len(trick.plays)) % self.seats]

    def legal(self, seat: int) -> set[str]:
        if None in self.predictions:
            return {f"predict {name_of(card)}" for card in self.hands[seat]}
        if self.questions:
            return {"peek", "do not peek"} if self.questions[0] == "peek" else {"split", "keep as one"}
        trick = self.tricks[-1]
        led = trick.led_colour()
        playable = [card for card in self.hands[seat] if card[0] == led] or self.hands[seat]
        legal = set()
        for card in playable:
            if card[1] == 69:
                legal |= {f"{card[0]} 6", f"{card[0]} 6 as 9"}
            else:
                legal.add(f"{card[0]} {card[1]}")
            if card[1] == 0 and all(play.blocks is None for play in trick.plays):
                for place in range(len(trick.plays)):
                    legal.add(f"{card[0]} 0 blocks place {place + 1}")
        return legal

    def dull(self, seat: int) -> set[str]:
        """Return the possible default choices for a silent seat. These include all legal plays, because only the engine
        orders plays.
        """
        if None in self.predictions:
            best: PlainCard | None = None
            nearest = (0, 0)
            for card in sorted(self.hands[seat], key=lambda card: (COLOURS.index(card[0]), VALUES.index(card[1]))):
                for value in [6, 9] if card[1] == 69 else [card[1]]:
                    distance = (abs(value * self.seats - self.size), value)
                    if best is None or distance < nearest:
                        best, nearest = card, distance
            assert best is not None
            return {f"predict {name_of(best)}"}
        return self.legal(seat) - {"peek", "split"}

    def act(self, seat: int, name: str) -> None:
        words = name.split(" ")
        if words[0] == "predict":
            card = card_named(" ".join(words[1:]))
            self.hands[seat].remove(card)
            self.predictions[seat] = card
            if None not in self.predictions:
                self.tricks.append(Trick((self.dealer + 1) % self.seats))
            return
        trick = self.tricks[-1]
        if name in ("peek", "do not peek"):
            trick.peeked = name == "peek"
            self.questions.remove("peek")
        elif name in ("split", "keep as one"):
            trick.split = name == "split"
            self.questions.remove("double")
        else:
            self.play(seat, words)
            if len(trick.plays) < self.seats:
                return
            trick.completed = True
            trump = self.next_card[0] if self.next_card else None
            trick.taker = trick.find_taker(trump)
            counting = trick.counting()
            if any(play.value == 12 for play in counting):
                self.questions.append("double")
            led_it = trick.plays[0]
            if led_it in counting and led_it.value == 8 and trick.taker != trick.leader:
                self.questions.append("peek")
        if not self.questions:
            self.after_trick()

    def play(self, seat: int, words: list[str]) -> None:
        value = int(words[1])
        blocks = int(words[4]) - 1 if "blocks" in words else None
        card = (words[0], 69 if value == 6 else value)
        if words[-1] == "9":
            value = 9
        self.hands[seat].remove(card)
        self.tricks[-1].plays.append(Play(seat, card, value, blocks))

    def after_trick(self) -> None:
        trick = self.tricks[-1]
        if self.hands[0]:
            self.tricks.append(Trick(trick.leader if trick.taker is None else trick.taker))
            return
        taken = self.taken()
        points = []
        for seat in range(self.seats):
            card = self.predictions[seat]
            assert card is not None
            points.append(self.points(card[1], taken[seat]))
            self.scores[seat] += points[seat]
        self.last_round = {
            "round": self.round,
            "points": points,
            "scores": list(self.scores),
            "turned": self.next_card,
            "predictions": list(self.predictions),
            "plays": [play.name(None) for trick in self.tricks for play in trick.plays],
            **self.completed_tricks(),
            "leaders": [trick.leader for trick in self.tricks],
            "taken": taken,
        }
        if self.target:
            self.over = max(self.scores) >= self.target or self.round == 59
        else:
            self.over = self.round == self.rounds - 1
        if not self.over:
            self.deal()

    def taken(self) -> list[int]:
        return [sum(trick.worth() for trick in self.tricks if trick.taker == seat) for seat in range(self.seats)]

    def points(self, predicted: int, tricks: int) -> int:
        """Return the points (S14, and the novice rule of S16)."""
        distance = abs(predicted - tricks)
        if predicted == 69:
            distance = min(abs(6 - tricks), abs(9 - tricks))
        if self.novice:
            return {0: 6, 1: 4, 2: 3, 3: 2, 4: 1}.get(distance, 0)
        return tricks if distance == 0 else -distance

    def places(self) -> list[int]:
        better_first = sorted(self.scores, reverse=True)
        return [better_first.index(score) + 1 for score in self.scores]

    def completed_tricks(self) -> dict[str, object]:
        done = [trick for trick in self.tricks if trick.completed]
        return {
            "takers": [self.seats if trick.taker is None else trick.taker for trick in done],
            "worths": [trick.worth() for trick in done],
        }

    def seen(self, seat: int) -> dict[str, object]:
        """Return the facts that the seat may know, with names of cards and actions instead of indices."""
        known: list[PlainCard | None] = [None] * self.seats
        known[seat] = self.predictions[seat]
        for trick in self.tricks:
            if trick.peeked and trick.leader == seat:
                assert trick.taker is not None
                known[trick.taker] = self.predictions[trick.taker]
        return {
            "seat": seat,
            "seats": self.seats,
            "round": self.round,
            "rounds": 0 if self.target else self.rounds,
            "target": self.target,
            "novice": self.novice,
            "late_trump": self.late_trump,
            "dealer": self.dealer,
            "hand_size": self.size,
            "turned": self.turned(),
            "hand": sorted(self.hands[seat], key=lambda card: (COLOURS.index(card[0]), VALUES.index(card[1]))),
            "prediction": self.predictions[seat],
            "plays": [play.name(seat) for trick in self.tricks for play in trick.plays],
            "leaders": [trick.leader for trick in self.tricks],
            **self.completed_tricks(),
            "peeks": [int(trick.peeked) for trick in self.tricks if trick.completed],
            "taken": self.taken(),
            "scores": self.scores if self.last_round is None else self.last_round["scores"],
            "known_predictions": known,
        }
