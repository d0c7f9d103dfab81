"""The counting house bot: it keeps track of the cards it has not seen and plays for the most points of the round.

Nobody has to follow suit, so what a card is worth depends on the cards out above it and on who wants tricks: when
the others have bid much they take high cards off one's hands, when all have bid zero even a low lead may be left
lying. From both comes, for every card in hand, the chance to take a trick when that is wanted and when it is not.
The worth of a bid or a play is worked out backwards over the cards that are left, the better of the two wishes for
each. The numbers below were found by trying: they won most against other numbers at tables of 2 to 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from arena.house.content import version
from arena.house.nullern.situation import CARDS, HIGHEST_PLAIN, Situation, read
from engine.game import SeatView
from engine.nullern import NullernView
from engine.nullern.cards import BID, COLOURS
from engine.nullern.score import HUPFER_COST, POINTS
from engine.nullern.tricks import RANKING, SINGLE

_WANTED: Final = (0.95, 0.45)
"""How much each opponent stands in the way of a wanted trick: at the least, and more for all that others want."""
_UNWANTED: Final = (0.6, 1.5)
"""How much each opponent helps against an unwanted trick, in the same way."""
_TRUMP_WANTED: Final = 0.35
_TRUMP_UNWANTED: Final = 1.65
"""What a trump changes about that: it takes a wanted trick more surely and an unwanted one more rarely."""
_EAGER: Final = 0.62
"""How readily a later seat that wants the trick and could take it does."""
_LOST: Final = 0.4
"""What a seat whose bid is lost wants, as a part of the tricks left."""

_WORTH: Final = tuple(
    tuple(points - HUPFER_COST * (bid != tricks) for tricks, points in enumerate(row)) for bid, row in enumerate(POINTS)
)
"""`_WORTH[bid][tricks taken]`, a Hupfer counted at once."""
_DECK: Final = bytes([0] + [len(COLOURS) - 1] * HIGHEST_PLAIN + [1] * HIGHEST_PLAIN)
"""By rank, the number of cards."""


@dataclass(frozen=True, slots=True)
class CounterBot:
    """Plays for the most points, with an eye on what the others hold and want."""

    game: str = "nullern"
    name: str = "house-counter"
    version: str = version(__name__, read.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice with the best prospects; chance has no part in it."""
        assert isinstance(view, NullernView)
        if len(legal) == 1 or not view.hand:
            return legal[0]  # unseen, no card is as likely to win as a bid of 1 would need: 5 times in 8
        outlook = _Outlook(view)
        if legal[0] >= BID:
            return max(legal, key=lambda action: outlook.worth_of_bid(action - BID))
        situation = read(view)
        return max(legal, key=lambda card: outlook.worth_of_play(card, situation))


class _Chance(NamedTuple):
    """How likely a card takes a later trick: when its owner would rather not, and when it is wanted."""

    card: int
    unwanted: float
    wanted: float


class _Outlook:
    """What the rest of a round may bring to the seat that looks."""

    def __init__(self, view: NullernView) -> None:
        self.view = view
        self.left = len(view.hand)
        self.ranks = RANKING[CARDS[view.turned].colour]
        unseen = bytearray(_DECK)
        for rank in (view.hand + view.plays + SINGLE[view.turned]).translate(self.ranks):
            unseen[rank] -= 1
        below = list(accumulate(unseen))
        self.unseen = below[-1]
        self.above = [self.unseen - count for count in below]
        """By rank, the unseen cards of a higher one."""
        self.rival = view.bids[1 - view.seat] - 1 if view.seats == 2 else -1
        """The bid of the only opponent, as far as known: what that one loses is as good as won."""
        demand = self._demand()
        self.against = [(view.seats - 1) * (least + more * demand) for least, more in (_UNWANTED, _WANTED)]
        self.chances = sorted(map(self._chance, view.hand), key=lambda each: each.wanted - each.unwanted)

    def _demand(self) -> float:
        """The tricks that the others want, as a multiple of the tricks left."""
        view, left = self.view, self.left
        wanted = 0.0
        for seat, (bid, taken) in enumerate(zip(view.bids, view.taken, strict=True)):
            if seat == view.seat:
                continue
            if not bid:
                wanted += left / view.seats  # it has yet to bid: say, an equal share
            elif 0 <= (missing := bid - 1 - taken) <= left:
                wanted += missing
            else:
                wanted += _LOST * left
        return wanted / left

    def _chance(self, card: int) -> _Chance:
        rank = self.ranks[card]
        unbeaten = 1 - (self.above[rank] + self.above[rank - 1]) / (2 * self.unseen)
        unwanted, wanted = self.against
        if rank > HIGHEST_PLAIN:
            unwanted *= _TRUMP_UNWANTED
            wanted *= _TRUMP_WANTED
        likely: float = unbeaten**wanted
        return _Chance(card, min(likely, unbeaten**unwanted), likely)

    def worth_of_bid(self, bid: int) -> float:
        """The points to be expected of a bid."""
        (worth,) = self._worths(bid, self.chances, 1)
        return worth

    def worth_of_play(self, card: int, situation: Situation) -> float:
        """The points to be expected after a play."""
        rest = [each for each in self.chances if each.card != card]
        without, with_it = self._worths(self.view.bids[self.view.seat] - 1, rest, 2)
        rank = self.ranks[card]
        if rank <= situation.ahead:
            return without
        return without + self._keeps(rank, situation) * (with_it - without)

    def _worths(self, bid: int, chances: Sequence[_Chance], count: int) -> Sequence[float]:
        """The points to be expected with the tricks taken so far, with one more and so on: so many numbers.

        Backwards: with no card left they are certain; with one more, it is the better of wanting it to take a trick
        and not wanting it.
        """
        taken = self.view.taken[self.view.seat]
        worths: Sequence[float] = _WORTH[bid][taken : taken + len(chances) + count]
        if self.rival >= 0:
            most = self.view.hand_size - taken
            worths = [own - _WORTH[self.rival][most - more] for more, own in enumerate(worths)]
        for _, unwanted, wanted in chances:
            worths = [less + (wanted if more > less else unwanted) * (more - less) for less, more in pairwise(worths)]
        return worths

    def _keeps(self, rank: int, situation: Situation) -> float:
        """The chance that a card which is ahead stays so, whoever plays after it."""
        over = self.above[rank]
        able = 1 - (1 - over / self.unseen) ** self.left
        if situation.led > HIGHEST_PLAIN or (not situation.led and rank > HIGHEST_PLAIN):
            forced = self._forced_trump(over)
        else:
            forced = (over / self.unseen) ** self.left
        eager = forced + _EAGER * (able - forced)
        kept: float = (1 - eager) ** situation.eager_to_come * (1 - forced) ** situation.content_to_come
        return kept

    def _forced_trump(self, over: int) -> float:
        """The chance that a seat which must follow with a trump has higher ones only (N5)."""
        if not over:
            return 0.0
        trumps = self.above[HIGHEST_PLAIN]
        share = trumps / self.unseen
        chance: float = (1 - (1 - share) ** self.left) * (over / trumps) ** max(1, self.left * share)
        return chance
