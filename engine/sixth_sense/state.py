"""One game of 6th Sense in progress. It implements the order of play and rulings S2–S8 and S12–S16.

It trusts its caller: an illegal action leaves it in an undefined state. Plays, takers and points are looked up in
tables, a few look-ups per card. `engine.sixth_sense.observer` computes everything that only a view needs.

Numbers of other types (numpy's, for example) are converted to `int` where compiled code requires an `int`, and where
they serve as more than an index. An `int`, the usual case, needs no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Final, NamedTuple, SupportsIndex

from engine.byte_lists import SINGLE, put
from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, Decks, places
from engine.observation import fill, opened
from engine.sixth_sense.cards import CARDS, COLOUR_SIZE, COLOURS, KEEP, LOOK_AWAY, PEEK, PREDICT, SPLIT
from engine.sixth_sense.observation import LONGEST, SeatVector, vector, vector_into
from engine.sixth_sense.observer import observe, seen
from engine.sixth_sense.score import POINTS, prediction_nearest
from engine.sixth_sense.tricks import (
    BLOCKS_OF,
    COLOUR_OF,
    GONE,
    NO_TRUMP,
    NOTHING,
    OTHERS,
    PLACE_BLOCKED,
    RANKING,
    VALUES,
    ZEROS,
    cards_of,
    hand_of,
    predictions_of,
    with_blocks,
)
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView

_COLOURS: Final = len(COLOURS)
_NEXT: Final = tuple((*range(1, seats), 0) for seats in range(7))
"""For each number of seats: by seat, the next seat."""

_LEAD: Final = -1
_PREDICT: Final = -2
_DOUBLE: Final = -3
_PEEK: Final = -4
_NOTHING: Final = -5
_DOUBLING: Final = bytes((KEEP, SPLIT))
_PEEKING: Final = bytes((LOOK_AWAY, PEEK))


_filled: Final = tuple.__new__
"""Creates a named tuple from its fields, faster than the tuple's own `__new__`."""


class GameConstants(NamedTuple):
    """The constants of a game."""

    seats: int
    hand_size: int
    rounds: int
    """Number of rounds; 0 if the game is played to a target score."""
    target: int
    """The target score; 0 when the number of rounds is fixed."""
    novice: bool
    late_trump: bool
    decks: Decks


class SixthSenseState:
    """One game in progress. It is secret: seats see it only through `view`."""

    __slots__ = (
        "_blocked",
        "_deck",
        "_due",
        "_leader",
        "_next",
        "_peeker",
        "_ranking",
        "_seats",
        "_tricks",
        "_vectors",
        "blocks",
        "hands",
        "leaders",
        "peeked",
        "player",
        "plays",
        "predictions",
        "report",
        "round",
        "scores",
        "setting",
        "taken",
        "takers",
        "turned",
        "worths",
    )

    setting: GameConstants
    _seats: int
    _next: tuple[int, ...]
    """By seat, the next seat in the order of play."""
    _tricks: int
    """Tricks in a round."""
    player: int
    round: int
    scores: tuple[int, ...]
    turned: int | None
    """The card turned over; None before it is turned."""
    _deck: Sequence[int]
    """The cards dealt this round and the one turned over."""
    hands: list[bytes]
    """By seat, the plays that its hand offers, without blocks."""
    predictions: list[int]
    """The prediction cards by seat, −1 until chosen."""
    plays: bytes
    """The actions of the round's tricks, one after the other."""
    blocks: bytes
    """Indices of the blocks within `plays`."""
    leaders: bytes
    """Leaders by trick; a trick begins when its leader is to play."""
    takers: bytes
    """Takers by completed trick; the number of seats stands for no taker."""
    worths: bytes
    """Values so far, by completed trick (S8, S13)."""
    peeked: bytes
    """The tricks in which the leader looked at the taker's prediction card (S12)."""
    taken: list[int]
    """Tricks taken this round, by seat."""
    report: SixthSenseRound | None
    """The last finished round; None during the first round."""
    _due: int
    """The choice that is due: a play, given by the colour to follow, or one of the negative numbers above."""
    _ranking: tuple[tuple[bytes, ...], ...]
    """The entry of `RANKING` for this round's trump."""
    _leader: int
    """The seat that leads the trick; once the trick is taken, the seat that leads the next one."""
    _blocked: int
    """The blocked place in the trick; −1 for none."""
    _peeker: int
    """The seat to ask about peeking, once the taker has answered about doubling; −1 for none."""
    _vectors: list[SeatVector | None] | None
    """The last vectors written for each seat, as floats and as bytes; None if none has been written yet."""

    def __init__(
        self,
        setting: GameConstants,
        first: int = 0,
        scores: tuple[int, ...] = (),
        like: SixthSenseState | None = None,
    ) -> None:
        """Deal the first round, or a later one that begins with these scores; or copy a state."""
        self.setting = setting
        self._seats = setting.seats
        self._tricks = setting.hand_size - 1
        self._next = _NEXT[setting.seats]
        self._vectors = None
        if like is None:
            self.scores = scores or (0,) * setting.seats
            self.report = None
            self._deal(first)
            return
        self.player = like.player
        self.round = like.round
        self.scores = like.scores
        self.turned = like.turned
        self._deck = like._deck
        self.hands = like.hands[:]
        self.predictions = like.predictions[:]
        self.plays = like.plays
        self.blocks = like.blocks
        self.leaders = like.leaders
        self.takers = like.takers
        self.worths = like.worths
        self.peeked = like.peeked
        self.taken = like.taken[:]
        self.report = like.report
        self._due = like._due
        self._ranking = like._ranking
        self._leader = like._leader
        self._blocked = like._blocked
        self._peeker = like._peeker

    def __repr__(self) -> str:
        return "SixthSenseState(secret)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function and its arguments, from which pickle and copy create an independent copy."""
        copied = self.clone()
        stored = [getattr(copied, name) for name in _STORED]
        return _restored, (self.setting, RANKING.index(self._ranking), stored)

    def waiting(self) -> tuple[int, ...]:
        """Return every seat that owes a choice, in rising order."""
        if self._due == _PREDICT:
            return tuple(seat for seat, card in enumerate(self.predictions) if card < 0)
        return () if self._due == _NOTHING else (self.player,)

    def legal(self, seat: Any) -> bytes:
        """The legal actions of a seat that owes a choice, in ascending order (S4, S5, S7, S11–S13)."""
        try:
            asked: int = seat
        except TypeError:  # pragma: no cover - the sources take any index, the compiled build does not
            asked = index(seat)
        due = self._due
        hand = self.hands[asked]
        if due >= 0:
            follows = hand.strip(OTHERS[due])
            if self._blocked >= 0:
                return follows or hand
            if not follows:
                return with_blocks(hand, (index(asked) - self._leader) % self._seats)
            if follows[0] == ZEROS[due]:
                return follows + BLOCKS_OF[(index(asked) - self._leader) % self._seats][due]
            return follows
        if due == _LEAD:
            return hand
        if due == _PREDICT:
            return predictions_of(hand)
        return _DOUBLING if due == _DOUBLE else _PEEKING

    def fallback(self, seat: SupportsIndex) -> int:
        """Return the action that the server plays for a silent seat (see `engine.game.State.fallback`)."""
        legal = self.legal(seat)
        if self._due == _PREDICT:
            return PREDICT + prediction_nearest(self.setting.hand_size, self._seats, cards_of(self.hands[seat]))
        return legal[0]

    def apply(self, action: Any, seat: Any) -> None:
        """Apply a seat's choice."""
        try:
            chosen: int = action
            asked: int = seat
        except TypeError:  # pragma: no cover - the sources take any index, the compiled build does not
            chosen, asked = index(action), index(seat)
        due = self._due
        if due >= _LEAD:
            hands = self.hands
            hands[asked] = hands[asked].replace(GONE[chosen], b"")
            self.plays = self.plays + SINGLE[chosen]  # Not +=, which is slow when compiled.
            if due < 0:
                self._due = COLOUR_OF[chosen]
            elif PLACE_BLOCKED[chosen] >= 0:
                self._block(PLACE_BLOCKED[chosen], index(asked))
            self.player = asked = self._next[asked]
            if asked == self._leader:
                self._complete()
        elif due == _PREDICT:
            self._predict(index(chosen), index(asked))
        else:
            self._answer(chosen)

    def clone(self) -> SixthSenseState:
        """Return an independent copy."""
        return SixthSenseState(self.setting, like=self)

    def view(self, seat: SupportsIndex) -> SixthSenseView:
        """Return everything that the seat may know now."""
        return observe(self, seat if type(seat) is int else index(seat))

    def vector(self, seat: SupportsIndex) -> list[float]:
        """Return the seat's view as numbers (see `engine.game.Game.observation`)."""
        return vector(self.view(seat))

    def vector_into(self, seat: SupportsIndex, array: Any) -> None:
        """Write the numbers that `vector` returns into an array (see `engine.game.State.vector_into`).

        From the second call on, the last vector of each seat is cached. Copies for a search are asked only once, so
        they skip this.
        """
        vectors = self._vectors
        if vectors is None:
            vector_into(self.view(seat), array)
            self._vectors = []
            return
        if not vectors:
            vectors = self._vectors = [None] * (2 * self._seats)
        target, in_bytes = opened(array)
        watcher = index(seat)
        place = 2 * watcher + in_bytes
        kept = vectors[place]
        if kept is None:
            kept = vectors[place] = SeatVector(self._seats, self.setting.hand_size, in_bytes)
        now = seen(self, watcher)
        if kept.seen.round == now.round:
            kept.go_on(now)
        else:
            kept.renew(now, cards_of(self.hands[watcher]), self.setting)
        fill(target, kept.numbers)

    def ranking(self) -> tuple[int, ...]:
        """Return places by seat, 1 being the best; equal scores share a place (S15)."""
        return places(self.scores)

    def deal_anew(self, seats: tuple[int, ...], hands: list[list[int]], decks: Decks, turned: int) -> None:
        """Replace the hands of some seats, the card to turn over, and the decks of later rounds."""
        for place, seat in enumerate(seats):
            self.hands[seat] = hand_of(hands[place])
        number, hand_size, rounds, target, novice, late_trump, _ = self.setting
        self.setting = _filled(GameConstants, (number, hand_size, rounds, target, novice, late_trump, decks))
        self._deck = (turned,)
        self._vectors = None

    def _deal(self, number: int) -> None:
        """Begin a round (S1–S3)."""
        seats = self._seats
        size = self.setting.hand_size
        dealt = seats * size
        deck = self.setting.decks(number, COLOUR_SIZE * (_COLOURS - (seats == 2)), dealt + 1)
        self.hands = [hand_of(deck[first : first + size]) for first in range(0, dealt, size)]
        self._deck = deck
        self.turned = None if self.setting.novice or self.setting.late_trump else deck[dealt]
        self._ranking = RANKING[NO_TRUMP]
        self.round = number
        self.predictions = [-1] * seats
        self.plays = b""
        self.blocks = b""
        self.leaders = b""
        self.takers = b""
        self.worths = b""
        self.peeked = b""
        self.taken = [0] * seats
        self.player = 0
        self._due = _PREDICT
        self._leader = (number + 1) % seats
        self._blocked = -1
        self._peeker = -1

    def _predict(self, action: int, seat: int) -> None:
        """Lay a card aside, face down (S4); after the last prediction the first trick begins."""
        self.hands[seat] = self.hands[seat].replace(GONE[action], b"")
        self.predictions[seat] = action - PREDICT
        if -1 in self.predictions:
            self.player = self.predictions.index(-1)
            return
        if not self.setting.novice:
            self.turned = self._deck[-1]
            self._ranking = RANKING[CARDS[self.turned].colour]
        self._next_trick()

    def _block(self, place: int, seat: int) -> None:
        """Remove the blocked card from the trick; the seat's block is already among the plays (S6, S7)."""
        self._blocked = place
        self.blocks = self.blocks + SINGLE[len(self.plays) - 1]
        if place == 0:
            blocker = (seat - self._leader) % self._seats
            self._due = COLOUR_OF[self.plays[-blocker]] if blocker > 1 else _LEAD

    def _complete(self) -> None:
        """Find the seat that takes the trick (S8–S10) and the questions to ask (S12, S13)."""
        seats = self._seats
        led = self._due
        if led < 0:
            self.takers = self.takers + SINGLE[seats]
            self.worths = self.worths + SINGLE[0]
            self._next_trick()
            return
        trick = self.plays[-seats:]
        if self._blocked >= 0:
            trick = put(trick, self._blocked, NOTHING)
        values = trick.translate(VALUES)
        reverse = values.count(4) & 1 if 4 in values else 0
        leader = taker = seat = self._leader
        highest = 0
        for rank in trick.translate(self._ranking[reverse][led]):
            if rank >= highest:
                highest = rank
                taker = seat
            seat += 1
        if taker >= seats:
            taker -= seats
        self.takers = self.takers + SINGLE[taker]
        self.worths = self.worths + SINGLE[1]
        self.taken[taker] += 1
        self._leader = taker
        if values[0] == 8 and taker != leader:
            self._peeker = leader
        if 12 in values:
            self._due = _DOUBLE
            self.player = taker
        elif self._peeker >= 0:
            self._ask_to_peek()
        else:
            self._next_trick()

    def _answer(self, action: int) -> None:
        """Apply the taker's answer about doubling or, after it, the leader's about peeking (S12, S13)."""
        if action == SPLIT:
            self.worths = self.worths[:-1] + SINGLE[2]
            self.taken[self._leader] += 1
        elif action == PEEK:
            self.peeked = self.peeked + SINGLE[len(self.takers) - 1]
        if self._peeker >= 0:
            self._ask_to_peek()
        else:
            self._next_trick()

    def _ask_to_peek(self) -> None:
        self._due = _PEEK
        self.player = self._peeker
        self._peeker = -1

    def _next_trick(self) -> None:
        """Begin a trick, whose leader is to play, or end the round."""
        if len(self.takers) == self._tricks:
            self._end_round()
        else:
            self._blocked = -1
            self._due = _LEAD
            self.player = self._leader
            self.leaders = self.leaders + SINGLE[self._leader]

    def _end_round(self) -> None:
        """Count the points (S14), then begin the next round or end the game (S3, S15, S16)."""
        taken = self.taken
        table = POINTS[self.setting.novice]
        won = tuple([table[card][taken[seat]] for seat, card in enumerate(self.predictions)])
        self.scores = tuple([self.scores[seat] + points for seat, points in enumerate(won)])
        self.report = SixthSenseRound(
            self.round,
            won,
            self.scores,
            self.turned,
            bytes(self.predictions),
            self.plays,
            self.leaders,
            self.takers,
            self.worths,
            bytes(taken),
        )
        played = self.round + 1
        if played == (self.setting.rounds or LONGEST) or 0 < self.setting.target <= max(self.scores):
            self._due = _NOTHING
            self.player = OVER
        else:
            self._deal(played)


_STORED: Final = (
    *("player", "round", "scores", "turned", "_deck", "hands", "predictions", "plays", "blocks", "leaders", "takers"),
    *("worths", "peeked", "taken", "report", "_due", "_leader", "_blocked", "_peeker"),
)
"""The fields that a pickle stores, besides the table of the trump; all other fields follow from them."""
_ANY: Final = SixthSenseState(GameConstants(2, 2, 1, 0, False, False, SeededDecks(bytes(KEY_BYTES))))
"""The state that `_restored` copies before it sets the fields: only `__init__` can create a compiled object."""


def _restored(setting: GameConstants, trump: int, fields: list[Any]) -> SixthSenseState:
    """Create a state from the arguments that `SixthSenseState.__reduce__` returned."""
    state = SixthSenseState(setting, like=_ANY)
    state._ranking = RANKING[trump]
    for name, value in zip(_STORED, fields, strict=True):
        setattr(state, name, value)
    return state
