"""One game of 6th Sense in progress: the order of play, S2–S8 and S12–S16; plays, takers and points are tables.

It trusts its caller: an action that is not legal leaves it in no defined state. Hands are masks of 14 bits, one a
seat and colour; everything else is an immutable value, so that a clone shares it.
"""

from __future__ import annotations

from typing import Final

from engine.game import OVER, Decks
from engine.sixth_sense.cards import COLOUR_SIZE, COLOURS, KEEP, LOOK_AWAY, PEEK, SPLIT
from engine.sixth_sense.score import places, points, prediction_nearest
from engine.sixth_sense.tricks import (
    BIT_OF,
    COLOUR_OF,
    FOLLOWS,
    HELD,
    NO_TRUMP,
    NOTHING,
    PLACE_BLOCKED,
    RANKING,
    VALUES,
)
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView, look

_COLOURS: Final = len(COLOURS)
_HAND_SIZE: Final = {2: 15, 3: 14, 4: 14, 5: 13, 6: 11}
_ROUNDS: Final = {2: 6, 3: 6, 4: 4, 5: 5, 6: 6}
_LAST_ROUND: Final = 60
"""After so many rounds a game to a target score ends anyway (S16)."""
_ONE: Final = tuple(bytes([index]) for index in range(256))

_PREDICT: Final = 0
_PLAY: Final = 1
_DOUBLE: Final = 2
_PEEK: Final = 3
_OVER: Final = 4


class SixthSenseState:
    """One game in progress. Secret; seats see it through `view`."""

    player: int
    round: int
    turned: int | None
    """The card turned over, once it is."""
    hands: list[int]
    """Masks of the cards in hand: `hands[seat · 5 + colour]`."""
    predictions: tuple[int | None, ...]
    plays: bytes
    """The actions of the round's tricks, one after the other."""
    takers: bytes
    """By completed trick; the number of seats where nobody took it."""
    peeked: int
    """A bit for every trick whose leader looked at the taker's prediction card."""
    _doubled: int
    """A bit for every trick that its taker split."""
    _face_down: int | None
    """The card to be turned over, if any."""
    _phase: int
    _ranking: tuple[tuple[bytes, ...], ...]
    _leader: int
    """Who leads the trick; while it awaits its choices, who leads the next."""
    _peeker: int
    """Who is to be asked about the taker's prediction card; −1 for nobody."""
    _place: int
    """Cards in the trick."""
    _led: int
    """The led colour; −1 while there is none."""
    _blocked: int
    """The place in the trick that was blocked; −1 for none."""

    __slots__ = (
        "_blocked",
        "_decks",
        "_doubled",
        "_face_down",
        "_late_trump",
        "_leader",
        "_led",
        "_peeker",
        "_phase",
        "_place",
        "_ranking",
        "hand_size",
        "hands",
        "novice",
        "peeked",
        "player",
        "plays",
        "predictions",
        "report",
        "round",
        "rounds",
        "scores",
        "seats",
        "takers",
        "target",
        "turned",
    )

    def __init__(self, seats: int, decks: Decks, *, novice: bool, target: int, late_trump: bool) -> None:
        """Deals the first round; the options are taken as they are."""
        self.seats = seats
        self.hand_size = _HAND_SIZE[seats]
        self.rounds = 0 if target else _ROUNDS[seats]
        self.target = target
        self.novice = novice
        self.scores: tuple[int, ...] = (0,) * seats
        self.report: SixthSenseRound | None = None
        self._late_trump = late_trump
        self._decks = decks
        self._deal(0)

    def __repr__(self) -> str:
        return "SixthSenseState(secret)"

    def waiting(self) -> tuple[int, ...]:
        """Every seat that owes a choice, in rising order."""
        if self._phase == _PREDICT:
            return tuple(seat for seat, card in enumerate(self.predictions) if card is None)
        return () if self._phase == _OVER else (self.player,)

    def legal(self, seat: int) -> tuple[int, ...]:
        """The actions open to a seat that owes a choice, in rising order (S4, S5, S7, S11–S13)."""
        first = seat * _COLOURS
        if self._phase == _PLAY:
            follows = FOLLOWS[self._place if self._blocked < 0 else 0]
            if (led := self._led) >= 0 and (mask := self.hands[first + led]):
                return follows[led][mask]
        elif self._phase == _PREDICT:
            follows = HELD
        else:
            return (KEEP, SPLIT) if self._phase == _DOUBLE else (LOOK_AWAY, PEEK)
        red, yellow, green, blue, purple = self.hands[first : first + _COLOURS]
        return follows[0][red] + follows[1][yellow] + follows[2][green] + follows[3][blue] + follows[4][purple]

    def fallback(self, seat: int) -> int:
        """What the server plays for a seat that does not: `engine.game.State.fallback`."""
        legal = self.legal(seat)
        return prediction_nearest(self.hand_size, self.seats, legal) if self._phase == _PREDICT else legal[0]

    def apply(self, action: int, seat: int) -> None:
        """Makes the choice of a seat."""
        if self._phase == _PLAY:
            colour = COLOUR_OF[action]
            self.hands[seat * _COLOURS + colour] ^= BIT_OF[action]
            self.plays += _ONE[action]
            if PLACE_BLOCKED[action] >= 0:
                self._block(PLACE_BLOCKED[action])
            elif self._led < 0:
                self._led = colour
            self._place += 1
            if self._place == self.seats:
                self._complete()
            else:
                self.player = (seat + 1) % self.seats
        elif self._phase == _PREDICT:
            self._predict(action, seat)
        else:
            self._answer(action)

    def clone(self) -> SixthSenseState:
        """An independent copy."""
        copy = _bare(SixthSenseState)
        copy.seats = self.seats
        copy.hand_size = self.hand_size
        copy.rounds = self.rounds
        copy.target = self.target
        copy.novice = self.novice
        copy._late_trump = self._late_trump
        copy._decks = self._decks
        copy.scores = self.scores
        copy.report = self.report
        copy.round = self.round
        copy.turned = self.turned
        copy._face_down = self._face_down
        copy.hands = self.hands[:]
        copy.predictions = self.predictions
        copy.plays = self.plays
        copy.takers = self.takers
        copy.peeked = self.peeked
        copy.player = self.player
        copy._phase = self._phase
        copy._ranking = self._ranking
        copy._doubled = self._doubled
        copy._leader = self._leader
        copy._led = self._led
        copy._place = self._place
        copy._blocked = self._blocked
        copy._peeker = self._peeker
        return copy

    def view(self, seat: int) -> SixthSenseView:
        """What the seat may know now."""
        return look(self, seat)

    def ranking(self) -> tuple[int, ...]:
        """Places by seat, 1 the best; equal scores share a place (S15)."""
        return places(self.scores)

    def leaders(self) -> bytes:
        """The seat that led, by trick that began."""
        leader = (self.round + 1) % self.seats
        leaders = [leader]
        for taker in self.takers:
            leader = leader if taker == self.seats else taker
            leaders.append(leader)
        return bytes(leaders if self._phase == _PLAY else leaders[:-1])

    def worths(self) -> bytes:
        """What each completed trick counts."""
        return bytes(
            0 if taker == self.seats else 1 + (self._doubled >> trick & 1) for trick, taker in enumerate(self.takers)
        )

    def taken(self) -> bytes:
        """Tricks taken this round, by seat."""
        taken = bytearray(self.seats + 1)
        for taker, worth in zip(self.takers, self.worths(), strict=True):
            taken[taker] += worth
        return bytes(taken[:-1])

    def _deal(self, number: int) -> None:
        """Begins a round (S1–S3)."""
        seats, size = self.seats, self.hand_size
        deck = self._decks(number, COLOUR_SIZE * (_COLOURS - (seats == 2)), seats * size + 1)
        hands = [0] * (seats * _COLOURS)
        for seat in range(seats):
            for card in deck[seat * size : (seat + 1) * size]:
                hands[seat * _COLOURS + COLOUR_OF[card]] |= BIT_OF[card]
        self.hands = hands
        self.round = number
        self._face_down = None if self.novice else deck[-1]
        self.turned = None if self._late_trump else self._face_down
        self.predictions = (None,) * seats
        self.plays = b""
        self.takers = b""
        self.peeked = 0
        self.player = 0
        self._phase = _PREDICT
        self._ranking = RANKING[NO_TRUMP]
        self._doubled = 0
        self._leader = (number + 1) % seats
        self._peeker = -1
        self._begin_trick()

    def _predict(self, card: int, seat: int) -> None:
        """Lays a card aside, face down (S4); after the last the first trick begins."""
        self.hands[seat * _COLOURS + COLOUR_OF[card]] ^= BIT_OF[card]
        self.predictions = (*self.predictions[:seat], card, *self.predictions[seat + 1 :])
        if None in self.predictions:
            self.player = self.predictions.index(None)
            return
        self.turned = self._face_down
        if self.turned is not None:
            self._ranking = RANKING[COLOUR_OF[self.turned]]
        self._phase = _PLAY
        self.player = self._leader

    def _block(self, place: int) -> None:
        """Takes the card at a place out of the trick; the block itself is already among the plays (S6, S7)."""
        self._blocked = place
        if place == 0:
            self._led = COLOUR_OF[self.plays[-self._place]] if self._place > 1 else -1

    def _complete(self) -> None:
        """Finds who takes the trick (S8–S10) and what is to be asked (S12, S13)."""
        seats = self.seats
        trick = self.plays[-seats:]
        if self._blocked >= 0:
            trick = trick[: self._blocked] + NOTHING + trick[self._blocked + 1 :]
        if self._led < 0:
            self.takers += _ONE[seats]
            self._next_trick()
            return
        values = trick.translate(VALUES)
        ranks = trick.translate(self._ranking[values.count(4) & 1][self._led])
        taker = (self._leader + ranks.rindex(max(ranks))) % seats
        self.takers += _ONE[taker]
        if values[0] == 8 and taker != self._leader:
            self._peeker = self._leader
        self._leader = taker
        if 12 in values:
            self._phase = _DOUBLE
            self.player = taker
        elif self._peeker >= 0:
            self._phase = _PEEK
            self.player = self._peeker
        else:
            self._next_trick()

    def _answer(self, action: int) -> None:
        """Takes the taker's answer about doubling or the leader's about peeking; the first comes first (S12, S13)."""
        last = 1 << len(self.takers) - 1
        if self._phase == _DOUBLE:
            self._doubled |= last if action == SPLIT else 0
            if self._peeker >= 0:
                self._phase = _PEEK
                self.player = self._peeker
                return
        else:
            self.peeked |= last if action == PEEK else 0
            self._peeker = -1
        self._next_trick()

    def _next_trick(self) -> None:
        """Begins the next trick or ends the round."""
        if len(self.takers) + 1 == self.hand_size:
            self._end_round()
        else:
            self._phase = _PLAY
            self.player = self._leader
            self._begin_trick()

    def _begin_trick(self) -> None:
        self._place = 0
        self._led = -1
        self._blocked = -1

    def _end_round(self) -> None:
        """Counts the points (S14); then the next round, or the end (S3, S15, S16)."""
        self._phase = _OVER
        predictions = bytes(card for card in self.predictions if card is not None)
        taken = self.taken()
        won = tuple(points(card, tricks, self.novice) for card, tricks in zip(predictions, taken, strict=True))
        self.scores = tuple(map(int.__add__, self.scores, won))
        self.report = SixthSenseRound(
            round=self.round,
            points=won,
            scores=self.scores,
            turned=self.turned,
            predictions=predictions,
            plays=self.plays,
            leaders=self.leaders(),
            takers=self.takers,
            worths=self.worths(),
            taken=taken,
        )
        played = self.round + 1
        last = _LAST_ROUND if self.target else self.rounds
        if played == last or (self.target and max(self.scores) >= self.target):
            self.player = OVER
        else:
            self._deal(played)


_bare = object.__new__
