"""One game of 6th Sense in progress: the order of play, S2–S8 and S12–S16; plays, takers and points are tables.

It trusts its caller: an action that is not legal leaves it in no defined state. What happens once a card is a few
look-ups in tables; whatever only a view or a report needs is worked out there.
"""

from __future__ import annotations

from itertools import repeat
from operator import add
from typing import Final, NamedTuple

from engine.game import OVER, Decks
from engine.sixth_sense.cards import COLOUR_SIZE, COLOURS, KEEP, LOOK_AWAY, PEEK, SPLIT
from engine.sixth_sense.record import Finished, taken
from engine.sixth_sense.score import places, points, prediction_nearest
from engine.sixth_sense.tricks import (
    BIT_OF,
    BLOCKS_OF,
    COLOUR_OF,
    HELD,
    NO_TRUMP,
    NOTHING,
    PLACE_BLOCKED,
    PLAYS_OF,
    RANKING,
    VALUES,
    masks,
)
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView, face_up, look

_COLOURS: Final = len(COLOURS)
_LAST_ROUND: Final = 60
"""After so many rounds a game to a target score ends anyway (S16)."""

_PREDICT: Final = 0
_PLAY: Final = 1
_DOUBLE: Final = 2
_PEEK: Final = 3
_OVER: Final = 4


class Setting(NamedTuple):
    """What stays the same for a whole game."""

    seats: int
    hand_size: int
    rounds: int
    """0 when played to a target score."""
    target: int
    """0 when the number of rounds is fixed."""
    novice: bool
    late_trump: bool
    decks: Decks


class SixthSenseState:
    """One game in progress. Secret; seats see it through `view`."""

    __slots__ = (
        "_blocked",
        "_face_down",
        "_finished",
        "_leader",
        "_led",
        "_peeker",
        "_phase",
        "_ranking",
        "_seats",
        "_tricks",
        "doubled",
        "hands",
        "peeked",
        "player",
        "plays",
        "predictions",
        "round",
        "scores",
        "setting",
        "takers",
        "turned",
    )

    setting: Setting
    _seats: int
    _tricks: int
    """Tricks in a round."""
    player: int
    round: int
    scores: tuple[int, ...]
    turned: int | None
    """The card turned over, once it is."""
    _face_down: int | None
    """The card that is or will be turned over, if any."""
    hands: list[int]
    """The cards in hand: `hands[seat · 5 + colour]` is a mask, bit = rank."""
    predictions: list[int]
    """The prediction cards by seat, −1 until chosen."""
    plays: bytearray
    """The actions of the round's tricks, one after the other."""
    takers: bytearray
    """By completed trick; the number of seats where nobody took it."""
    doubled: int
    """A bit for every trick that its taker split."""
    peeked: int
    """A bit for every trick whose leader looked at the taker's prediction card."""
    _phase: int
    _ranking: tuple[tuple[bytes, ...], ...]
    """The part of `RANKING` for this round's trump."""
    _leader: int
    """Who leads the trick; once it is taken, who leads the next."""
    _led: int
    """The led colour, −1 while there is none."""
    _blocked: int
    """The place in the trick that was blocked, −1 for none."""
    _peeker: int
    """Who is to be asked about peeking after the taker about doubling, −1 for nobody."""
    _finished: Finished | None

    def __init__(self, setting: Setting) -> None:
        """Deals the first round."""
        self.setting = setting
        self._seats = setting.seats
        self._tricks = setting.hand_size - 1
        self.scores = (0,) * setting.seats
        self._finished = None
        self._deal(0)

    def __repr__(self) -> str:
        return "SixthSenseState(secret)"

    @property
    def report(self) -> SixthSenseRound | None:
        """The last round that is over; None during the first."""
        return None if self._finished is None else face_up(self._finished)

    def waiting(self) -> tuple[int, ...]:
        """Every seat that owes a choice, in rising order."""
        if self._phase == _PREDICT:
            return tuple(seat for seat, card in enumerate(self.predictions) if card < 0)
        return () if self._phase == _OVER else (self.player,)

    def legal(self, seat: int) -> tuple[int, ...]:
        """The actions open to a seat that owes a choice, in rising order (S4, S5, S7, S11–S13)."""
        first = seat * _COLOURS
        table = PLAYS_OF
        may_block = False
        if self._phase == _PLAY:
            led = self._led
            if led >= 0:
                may_block = self._blocked < 0
                if mask := self.hands[first + led]:
                    if mask & 1 and may_block:
                        return PLAYS_OF[led][mask] + BLOCKS_OF[(seat - self._leader) % self._seats][led]
                    return PLAYS_OF[led][mask]
        elif self._phase == _PREDICT:
            table = HELD
        else:
            return (KEEP, SPLIT) if self._phase == _DOUBLE else (LOOK_AWAY, PEEK)
        red, yellow, green, blue, purple = self.hands[first : first + _COLOURS]
        if may_block and (red | yellow | green | blue | purple) & 1:
            return self._with_blocks(seat)
        return table[0][red] + table[1][yellow] + table[2][green] + table[3][blue] + table[4][purple]

    def fallback(self, seat: int) -> int:
        """What the server plays for a seat that does not: `engine.game.State.fallback`."""
        legal = self.legal(seat)
        if self._phase == _PREDICT:
            return prediction_nearest(self.setting.hand_size, self._seats, legal)
        return legal[0]

    def apply(self, action: int, seat: int) -> None:
        """Makes the choice of a seat."""
        if self._phase == _PLAY:
            colour = COLOUR_OF[action]
            self.hands[seat * _COLOURS + colour] -= BIT_OF[action]
            self.plays.append(action)
            if self._led < 0:
                self._led = colour
            elif PLACE_BLOCKED[action] >= 0:
                self._block(PLACE_BLOCKED[action], seat)
            seat += 1
            if seat == self._seats:
                seat = 0
            if seat == self._leader:
                self._complete()
            else:
                self.player = seat
        elif self._phase == _PREDICT:
            self._predict(action, seat)
        else:
            self._answer(action)

    def clone(self) -> SixthSenseState:
        """An independent copy."""
        copy = _bare(SixthSenseState)
        copy.setting = self.setting
        copy._seats = self._seats
        copy._tricks = self._tricks
        copy.player = self.player
        copy.round = self.round
        copy.scores = self.scores
        copy.turned = self.turned
        copy._face_down = self._face_down
        copy.hands = self.hands[:]
        copy.predictions = self.predictions[:]
        copy.plays = self.plays[:]
        copy.takers = self.takers[:]
        copy.doubled = self.doubled
        copy.peeked = self.peeked
        copy._phase = self._phase
        copy._ranking = self._ranking
        copy._leader = self._leader
        copy._led = self._led
        copy._blocked = self._blocked
        copy._peeker = self._peeker
        copy._finished = self._finished
        return copy

    def view(self, seat: int) -> SixthSenseView:
        """What the seat may know now."""
        return look(self, seat)

    def ranking(self) -> tuple[int, ...]:
        """Places by seat, 1 the best; equal scores share a place (S15)."""
        return places(self.scores)

    @property
    def begun(self) -> int:
        """Tricks of this round that have begun: a trick begins when its leader is to play."""
        return len(self.takers) + (self._phase == _PLAY)

    def _deal(self, number: int) -> None:
        """Begins a round (S1–S3)."""
        seats = self._seats
        size = self.setting.hand_size
        dealt = seats * size
        deck = self.setting.decks(number, COLOUR_SIZE * (_COLOURS - (seats == 2)), dealt + 1)
        self.hands = []
        for first in range(0, dealt, size):
            self.hands += masks(deck[first : first + size])
        self._face_down = None if self.setting.novice else deck[dealt]
        self.turned = None if self.setting.late_trump else self._face_down
        self._ranking = RANKING[NO_TRUMP]
        self.round = number
        self.predictions = [-1] * seats
        self.plays = bytearray()
        self.takers = bytearray()
        self.doubled = 0
        self.peeked = 0
        self.player = 0
        self._phase = _PREDICT
        self._leader = (number + 1) % seats
        self._led = -1
        self._blocked = -1
        self._peeker = -1

    def _predict(self, card: int, seat: int) -> None:
        """Lays a card aside, face down (S4); after the last the first trick begins."""
        self.hands[seat * _COLOURS + COLOUR_OF[card]] -= BIT_OF[card]
        self.predictions[seat] = card
        if -1 in self.predictions:
            self.player = self.predictions.index(-1)
            return
        self.turned = self._face_down
        if self.turned is not None:
            self._ranking = RANKING[COLOUR_OF[self.turned]]
        self._phase = _PLAY
        self.player = self._leader

    def _with_blocks(self, seat: int) -> tuple[int, ...]:
        """All plays of a seat that lacks the led colour and holds a 0 to block with (S7)."""
        hand = self.hands[seat * _COLOURS : (seat + 1) * _COLOURS]
        legal: tuple[int, ...] = ()
        for plays, blocks, mask in zip(PLAYS_OF, BLOCKS_OF[(seat - self._leader) % self._seats], hand, strict=True):
            legal += plays[mask] + blocks if mask & 1 else plays[mask]
        return legal

    def _block(self, place: int, seat: int) -> None:
        """Takes the card at a place out of the trick; the seat's block is already among the plays (S6, S7)."""
        self._blocked = place
        if place == 0:
            blocker = (seat - self._leader) % self._seats
            self._led = COLOUR_OF[self.plays[-blocker]] if blocker > 1 else -1

    def _complete(self) -> None:
        """Finds who takes the trick (S8–S10) and what is to be asked (S12, S13)."""
        seats = self._seats
        led = self._led
        if led < 0:
            self.takers.append(seats)
            self._next_trick()
            return
        trick = self.plays[-seats:]
        if self._blocked >= 0:
            trick[self._blocked] = NOTHING
        values = trick.translate(VALUES)
        ranks = trick.translate(self._ranking[values.count(4) & 1][led])
        leader = self._leader
        taker = leader + ranks.rindex(max(ranks))
        if taker >= seats:
            taker -= seats
        self.takers.append(taker)
        self._leader = taker
        peeker = leader if values[0] == 8 and taker != leader else -1
        if 12 in values:
            self._phase = _DOUBLE
            self.player = taker
            self._peeker = peeker
        elif peeker >= 0:
            self._phase = _PEEK
            self.player = peeker
        else:
            self._next_trick()

    def _answer(self, action: int) -> None:
        """Takes the taker's answer about doubling or, after it, the leader's about peeking (S12, S13)."""
        trick = 1 << len(self.takers) - 1
        if action == SPLIT:
            self.doubled |= trick
        elif action == PEEK:
            self.peeked |= trick
        if self._peeker >= 0:
            self._phase = _PEEK
            self.player = self._peeker
            self._peeker = -1
        else:
            self._next_trick()

    def _next_trick(self) -> None:
        """Begins the next trick or ends the round."""
        self._phase = _PLAY
        self.player = self._leader
        self._led = -1
        self._blocked = -1
        if len(self.takers) == self._tricks:
            self._end_round()

    def _end_round(self) -> None:
        """Counts the points (S14); then the next round, or the end (S3, S15, S16)."""
        counts = taken(self.takers, self.doubled, self._seats)
        won = tuple(map(points, self.predictions, counts, repeat(self.setting.novice)))
        self.scores = tuple(map(add, self.scores, won))
        self._finished = Finished(
            self.round,
            won,
            self.scores,
            self.turned,
            bytes(self.predictions),
            bytes(self.plays),
            bytes(self.takers),
            self.doubled,
            counts,
        )
        played = self.round + 1
        if played == (self.setting.rounds or _LAST_ROUND) or 0 < self.setting.target <= max(self.scores):
            self._phase = _OVER
            self.player = OVER
        else:
            self._deal(played)


_bare = object.__new__
