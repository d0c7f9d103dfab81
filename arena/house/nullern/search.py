"""The searching house bot: it imagines games that it could be in and has the counting bot play every seat of them.

Bids are open and say much about a hand: imagined hands are those on which the counting bot would have bid about the
same. The worth of a choice is that of `arena.house.search`, with a Hupfer counted at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, cast

from arena.house.content import version
from arena.house.nullern.counter import CounterBot
from arena.house.nullern.situation import CARDS, read
from arena.house.search import NO_CHANCE, Playouts, Unshuffled, ViewChance, best_of, ranked
from engine.game import RoundReport, SeatView, State
from engine.nullern import NULLERN, NullernView
from engine.nullern.cards import BID
from engine.nullern.score import HUPFER_COST
from engine.nullern.state import NullernState
from engine.nullern.tricks import BIDS, RANKING, SINGLE
from engine.nullern.view import NullernRound

_BIDS: Final = 4
"""Bids to look at."""
_PLAYS: Final = 4
"""Plays to look at."""
_BID_WORK: Final = 2000
"""Choices of the counting bot that a bid is worth."""
_PLAY_WORK: Final = 1000
_MOST_WORLDS: Final = 400
_DRAWN: Final = 4
"""Games that are drawn for each that is played."""
_CHUNK: Final = 16
"""Games to play that are taken from one draw."""
_LIKELIER: Final = 3
"""How much likelier hands are on which one seat's bid would have differed by one trick less."""


@dataclass(frozen=True, slots=True)
class SearchBot:
    """Bids and plays what comes to most in games that it imagines."""

    game: str = "nullern"
    name: str = "house-search"
    version: str = version(__name__, "arena.house.nullern.counter", read.__module__, best_of.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice that comes to most; chance has no part in it."""
        assert isinstance(view, NullernView)
        counter = CounterBot()
        if len(legal) == 1 or not view.hand:
            return counter.decide(view, legal, NO_CHANCE)
        if legal[0] >= BID:
            bids = ranked(counter.decide, view, legal, _BIDS)
            return best_of(bids, NullernPlayouts(view, counter), _BID_WORK, _MOST_WORLDS)
        plays = _distinct(view, legal)
        if len(plays) == 1:
            return plays[0]
        plays = ranked(counter.decide, view, plays, _PLAYS)
        return best_of(plays, NullernPlayouts(view, counter), _PLAY_WORK, _MOST_WORLDS)


def _distinct(view: NullernView, legal: Sequence[int]) -> list[int]:
    """The plays without those that are as good as another: what is no trump has no colour that matters (N5, N6)."""
    ranks = RANKING[CARDS[view.turned].colour]
    first = dict[int, int]()
    for card in legal:
        first.setdefault(ranks[card], card)
    return [*first.values()]


class NullernPlayouts(Playouts):
    """Games of Nullern that go with the bids."""

    def __init__(self, view: NullernView, counter: CounterBot) -> None:
        super().__init__(view.seat, counter.decide)
        self._view = view
        self._counter = counter
        self._chance = ViewChance(view)
        self._played = _played(view)
        order = [*range(view.dealer + 1, view.seats), *range(view.dealer + 1)]
        self._bidders = [
            (seat, bytes([view.bids[each] if each in order[:place] else 0 for each in range(view.seats)]))
            for place, seat in enumerate(order)
            if view.bids[seat] and seat != view.seat
        ]
        """The others that have bid, each with the bids before its own."""

    def worlds(self) -> Iterator[State[SeatView, RoundReport]]:
        """See `Playouts`."""
        drawn = _CHUNK * (_DRAWN if self._bidders else 1)
        while True:
            games = cast("list[NullernState]", NULLERN.sample_many(self._view, self._chance, drawn))
            if not self._bidders:
                yield from games
                continue
            misfits = [self._misfit(game) for game in games]
            worst = max(misfits)
            sums = [*accumulate([_LIKELIER ** (worst - each) for each in misfits])]
            for _ in range(_CHUNK):
                yield games[bisect_right(sums, self._chance.randrange(sums[-1]))]

    def copy(self, world: State[SeatView, RoundReport]) -> State[SeatView, RoundReport]:
        """See `Playouts`."""
        assert isinstance(world, NullernState)
        return NullernState(world.seats, Unshuffled(), like=world)

    def worth(self, report: RoundReport) -> Sequence[int]:
        """See `Playouts`."""
        assert isinstance(report, NullernRound)
        return [points - HUPFER_COST * missed for points, missed in zip(report.points, report.missed, strict=True)]

    def _misfit(self, game: NullernState) -> int:
        """By how many tricks the bids differ from those that the counting bot would have made on these hands."""
        view = self._view
        misfit = 0
        for seat, before in self._bidders:
            hand = bytes(sorted(self._played[seat] + game.hands[seat]))
            asked = view._replace(
                seat=seat, hand=hand, bids=before, plays=b"", leaders=b"", takers=b"", taken=bytes(view.seats)
            )
            bid = self._counter.decide(asked, BIDS[view.hand_size], NO_CHANCE) - BID
            misfit += abs(bid - (view.bids[seat] - 1))
            self.work += 1
        return misfit


def _played(view: NullernView) -> list[bytes]:
    """By seat, the cards that it has played."""
    played = [b""] * view.seats
    for number, card in enumerate(view.plays):
        seat = (view.leaders[number // view.seats] + number) % view.seats
        played[seat] = played[seat] + SINGLE[card]
    return played
