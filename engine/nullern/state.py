"""One game of Nullern in progress. It implements the order of play and rulings N1–N5 and N7–N8.

It trusts its caller: an illegal action leaves it in an undefined state. Tricks and points are looked up in tables, a
few look-ups per card. Each trick also updates the public knowledge, so that a view or a report only copies it.

Numbers of other types (numpy's, for example) are converted to `int` where compiled code requires an `int`, and where
they serve as more than an index. An `int`, the usual case, needs no check.
"""

from __future__ import annotations

from operator import add, index
from typing import Any, Final, SupportsIndex

from engine.byte_lists import put
from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, Decks, places
from engine.nullern.cards import BID, BLIND, CARDS
from engine.nullern.observation import SeatVector, vector, vector_into
from engine.nullern.observer import observe, seen
from engine.nullern.score import HUPFER_COST, POINTS, bid_nearest
from engine.nullern.tricks import BIDS, IS_TRUMP, OTHERS, RANKING, SINGLE, first_leader
from engine.nullern.view import NullernRound, NullernView
from engine.observation import fill, opened

_HAND_SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
"""By round, the hand size; the last round is blind (N1)."""
_ROUNDS: Final = len(_HAND_SIZES)
_NEXT: Final = tuple((*range(1, seats), 0) for seats in range(8))
"""For each number of seats: by seat, the next seat."""
_BLIND_PLAY: Final = bytes([BLIND])

_LEAD: Final = 0
_FREE: Final = 1
_TRUMP_LED: Final = 2
_BID: Final = 3
_TURN_BLIND: Final = 4
_NOTHING: Final = 5


class NullernState:
    """One game in progress. It is secret: seats see it only through `view`."""

    __slots__ = (
        "_decks",
        "_due",
        "_is_trump",
        "_leader",
        "_next",
        "_others",
        "_ranks",
        "_vectors",
        "bids",
        "hand_size",
        "hands",
        "hupfers",
        "leaders",
        "player",
        "plays",
        "report",
        "round",
        "scores",
        "seats",
        "taken",
        "takers",
        "turned",
    )

    seats: int
    _decks: Decks
    _next: tuple[int, ...]
    """By seat, the next seat in the order of play."""
    player: int
    round: int
    hand_size: int
    """Number of cards dealt to each seat in this round."""
    scores: tuple[int, ...]
    """Points by seat. The cost of Hupfers is deducted after the last round, not before."""
    hupfers: bytes
    """Hupfers of the finished rounds, by seat."""
    turned: int
    """The card turned over."""
    hands: list[bytes]
    """By seat, the cards in hand, in card order."""
    bids: bytes
    """By seat, the bid plus one; 0 until it has bid."""
    plays: bytes
    """The cards of the round's tricks, one after the other."""
    leaders: bytes
    """Leaders by trick, including the trick in progress."""
    takers: bytes
    """Takers by completed trick."""
    taken: bytes
    """Tricks taken this round, by seat."""
    report: NullernRound | None
    """The last finished round; None during the first round."""
    _due: int
    """The kind of choice that is due: one of the numbers above."""
    _ranks: bytes
    """The entry of `RANKING` for this round's trump; the next two fields are such entries of other tables."""
    _is_trump: tuple[bool, ...]
    _others: bytes
    _leader: int
    """The seat that leads the trick, once all have bid."""
    _vectors: list[SeatVector | None] | None
    """The last vectors written for each seat, as floats and as bytes; None if none has been written yet."""

    def __init__(
        self,
        seats: int,
        decks: Decks,
        first: int = 0,
        scores: tuple[int, ...] = (),
        hupfers: bytes = b"",
        like: NullernState | None = None,
    ) -> None:
        """Deal the first round, or a later one that begins with these scores and Hupfers; or copy a state."""
        self.seats = seats
        self._decks = decks
        self._next = _NEXT[seats]
        self._vectors = None
        if like is None:
            self.scores = scores or (0,) * seats
            self.hupfers = hupfers or bytes(seats)
            self.report = None
            self._deal(first)
            return
        self.player = like.player
        self.round = like.round
        self.hand_size = like.hand_size
        self.scores = like.scores
        self.hupfers = like.hupfers
        self.turned = like.turned
        self.hands = like.hands[:]
        self.bids = like.bids
        self.plays = like.plays
        self.leaders = like.leaders
        self.takers = like.takers
        self.taken = like.taken
        self.report = like.report
        self._due = like._due
        self._ranks = like._ranks
        self._is_trump = like._is_trump
        self._others = like._others
        self._leader = like._leader

    def __repr__(self) -> str:
        return "NullernState(secret)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function and its arguments, from which pickle and copy create an independent copy."""
        copied = self.clone()
        return _restored, (self.seats, self._decks, [getattr(copied, name) for name in _STORED])

    @property
    def rounds(self) -> int:
        """Rounds of a game (N1)."""
        return _ROUNDS

    @property
    def dealer(self) -> int:
        """The seat that deals this round (N3)."""
        return self.round % self.seats

    @property
    def blind(self) -> bool:
        """True if no seat may see any cards in hand, not even its own (N8)."""
        return self.round == _ROUNDS - 1

    def waiting(self) -> tuple[int, ...]:
        """Return a tuple with the seat that owes a choice; after the end it is empty."""
        return () if self._due == _NOTHING else (self.player,)

    def legal(self, seat: Any) -> bytes:
        """The legal actions of a seat that owes a choice, in ascending order (N3, N5, N8)."""
        try:
            asked: int = seat
        except TypeError:  # pragma: no cover - the sources take any index, the compiled build does not
            asked = index(seat)
        due = self._due
        if due < _TRUMP_LED:
            return self.hands[asked]
        if due == _TRUMP_LED:
            hand = self.hands[asked]
            return hand.strip(self._others) or hand
        return BIDS[self.hand_size] if due == _BID else _BLIND_PLAY

    def fallback(self, seat: SupportsIndex) -> int:
        """Return the action that the server plays for a silent seat (see `engine.game.State.fallback`)."""
        if self._due == _BID:
            return BID + bid_nearest(self.hand_size, self.seats)
        return self.legal(seat)[0]

    def apply(self, action: Any, seat: Any) -> None:
        """Apply a seat's choice."""
        try:
            chosen: int = action
            asked: int = seat
        except TypeError:  # pragma: no cover - the sources take any index, the compiled build does not
            chosen, asked = index(action), index(seat)
        due = self._due
        if due == _BID:
            self._bid(index(chosen), index(asked))
            return
        hands = self.hands
        if due == _LEAD:
            self._due = _TRUMP_LED if self._is_trump[chosen] else _FREE
        elif due == _TURN_BLIND:
            chosen = hands[asked][0]
        hands[asked] = hands[asked].replace(SINGLE[chosen], b"")
        self.plays = self.plays + SINGLE[chosen]  # Not +=, which is slow when compiled.
        self.player = asked = self._next[asked]
        if asked == self._leader:
            self._complete()

    def clone(self) -> NullernState:
        """Return an independent copy."""
        return NullernState(self.seats, self._decks, like=self)

    def view(self, seat: SupportsIndex) -> NullernView:
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
            vectors = self._vectors = [None] * (2 * self.seats)
        target, in_bytes = opened(array)
        watcher = index(seat)
        place = 2 * watcher + in_bytes
        kept = vectors[place]
        if kept is None:
            kept = vectors[place] = SeatVector(self.seats, in_bytes)
        now = seen(self, watcher)
        if kept.seen.round == now.round:
            kept.go_on(now)
        else:
            kept.renew(now, b"" if self.blind else self.hands[watcher])
        fill(target, kept.numbers)

    def ranking(self) -> tuple[int, ...]:
        """Return places by seat, 1 being the best; equal scores share a place (N9)."""
        return places(self.scores)

    def deal_anew(self, seats: tuple[int, ...], hands: list[list[int]], decks: Decks) -> None:
        """Replace the hands of some seats and the decks of later rounds."""
        for place, seat in enumerate(seats):
            self.hands[seat] = bytes(sorted(hands[place]))
        self._decks = decks
        self._vectors = None

    def _deal(self, number: int) -> None:
        """Begin a round (N1–N3)."""
        seats = self.seats
        size = _HAND_SIZES[number]
        dealt = seats * size
        deck = self._decks(number, len(CARDS), dealt + 1)
        self.hands = [bytes(sorted(deck[first : first + size])) for first in range(0, dealt, size)]
        self._turn(deck[dealt])
        self.round = number
        self.hand_size = size
        self.bids = bytes(seats)
        self.plays = b""
        self.leaders = b""
        self.takers = b""
        self.taken = bytes(seats)
        self.player = self._leader = (number + 1) % seats
        self._due = _BID

    def _turn(self, card: int) -> None:
        """Turn over the card that decides the trump (N2)."""
        self.turned = card
        trump = CARDS[card].colour
        self._ranks = RANKING[trump]
        self._is_trump = IS_TRUMP[trump]
        self._others = OTHERS[trump]

    def _bid(self, action: int, seat: int) -> None:
        """Apply a bid (N3); after the last one the first trick begins (N4)."""
        self.bids = put(self.bids, seat, action - BID + 1)
        self.player = seat = self._next[seat]
        if self.bids[seat]:
            self._lead(first_leader(self.bids, self.dealer))
            self._due = _TURN_BLIND if self.blind else _LEAD

    def _complete(self) -> None:
        """Find the seat that takes the trick (N6) and leads the next one (N4)."""
        seats = self.seats
        taker = seat = self._leader
        highest = 0
        for rank in self.plays[-seats:].translate(self._ranks):
            if rank > highest:
                highest = rank
                taker = seat
            seat += 1
        if taker >= seats:
            taker -= seats
        self.takers = self.takers + SINGLE[taker]
        self.taken = put(self.taken, taker, self.taken[taker] + 1)
        if len(self.takers) == self.hand_size:
            self._end_round()
        else:
            self._lead(taker)
            self._due = _LEAD

    def _lead(self, seat: int) -> None:
        """Begin a trick."""
        self.player = self._leader = seat
        self.leaders = self.leaders + SINGLE[seat]

    def _end_round(self) -> None:
        """Count the points and the Hupfers (N7), then begin the next round or end the game (N1)."""
        bids = self.bids
        won = tuple([POINTS[bid - 1][tricks] for bid, tricks in zip(bids, self.taken, strict=True)])
        missed = bytes([bid - 1 != tricks for bid, tricks in zip(bids, self.taken, strict=True)])
        self.hupfers = bytes(map(add, self.hupfers, missed))
        self.scores = tuple(map(add, self.scores, won))
        if self.blind:
            self.scores = tuple(
                score - HUPFER_COST * count for score, count in zip(self.scores, self.hupfers, strict=True)
            )
        self.report = NullernRound(
            self.round,
            won,
            self.scores,
            self.turned,
            bytes([bid - 1 for bid in bids]),
            self.plays,
            self.leaders,
            self.takers,
            self.taken,
            missed,
            self.hupfers,
        )
        if self.blind:
            self._due = _NOTHING
            self.player = OVER
        else:
            self._deal(self.round + 1)


_STORED: Final = (
    *("player", "round", "hand_size", "scores", "hupfers", "turned", "hands", "bids", "plays", "leaders", "takers"),
    *("taken", "report", "_due", "_leader"),
)
"""The fields that a pickle stores; all other fields follow from them."""
_ANY: Final = NullernState(2, SeededDecks(bytes(KEY_BYTES)))
"""The state that `_restored` copies before it sets the fields: only `__init__` can create a compiled object."""


def _restored(seats: int, decks: Decks, fields: list[Any]) -> NullernState:
    """Create a state from the arguments that `NullernState.__reduce__` returned."""
    state = NullernState(seats, decks, like=_ANY)
    for name, value in zip(_STORED, fields, strict=True):
        setattr(state, name, value)
    state._turn(state.turned)
    return state
