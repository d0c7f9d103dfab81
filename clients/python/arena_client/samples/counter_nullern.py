"""The expected value of a round of Nullern, by counting cards: bid and play for the most points.

Every card left in hand will be played either to take a trick or to avoid one, whichever is better at that point. Its
chance of taking a trick depends on the unseen stronger cards and on the tricks that the others want, because all bids
are open. The constants were tuned by playing.
"""

from collections.abc import Sequence
from itertools import pairwise

from arena_client import Action, Catalog, NullernView
from arena_client.nullern import PLAIN, eager, points, read, wanted_tricks

WANTED = (0.95, 0.45)
"""Exponent per opponent that lowers the chance of taking a wanted trick: the minimum, and the increase with the number
of tricks that others want.
"""
UNWANTED = (0.6, 1.5)
"""Exponent per opponent that lowers the chance of taking an unwanted trick: the minimum, and the increase with the
number of tricks that others want.
"""
TRUMP_WANTED = 0.35
TRUMP_UNWANTED = 1.65
"""Factors of these exponents for a trump: it takes a wanted trick more often, and an unwanted trick more rarely."""
OVERTAKES = 0.62
"""Frequency with which an opponent that wants the trick plays a card that takes it, if it holds one."""
LOST = 0.4
"""Share of the remaining tricks that an opponent with a lost bid wants."""


class Outlook:
    """The prospects of the viewing seat for the rest of a round."""

    def __init__(self, game: Catalog, view: NullernView) -> None:
        self.view = view
        self.table = read(game, view)
        self.chances = {card: self.chance(self.table.strengths[card]) for card in view.hand}
        """For each card in hand, two chances of taking a trick: if the trick is unwanted, and if it is wanted."""

    def worth_of(self, action: Action) -> float:
        """Return the expected score after an action."""
        # In the blind round, a bid of 1 pays only if the card takes the trick 5 times in 8.
        if not self.view.hand:
            return -(action.value or 0)
        if action.kind == "bid":
            assert action.value is not None
            return self.worth(action.value, 0, list(self.chances.values()))
        assert action.card is not None
        bid, taken = self.view.bids[self.view.seat], self.view.taken[self.view.seat]
        rest = [chance for card, chance in self.chances.items() if card != action.card]
        without = self.worth(bid, taken, rest)
        strength = self.table.strengths[action.card]
        if strength <= max(self.table.trick, default=0):
            return without
        kept = self.keeps(strength)
        return kept * self.worth(bid, taken + 1, rest) + (1 - kept) * without

    def worth(self, bid: int, tricks: int, rest: Sequence[tuple[float, float]]) -> float:
        """Return the expected score of a bid, after these tricks, with these chances of the cards still to play.

        The score is computed backwards, from the end of the round, where it is certain. Each earlier card adds a
        choice: to take a trick with it or not, whichever is better.
        """
        worths = [self.outcome(bid, tricks + more) for more in range(len(rest) + 1)]
        for unwanted, wanted in sorted(rest, key=lambda chance: chance[1] - chance[0]):
            worths = [less + (wanted if more > less else unwanted) * (more - less) for less, more in pairwise(worths)]
        return worths[0]

    def outcome(self, bid: int, tricks: int) -> float:
        """Return the points of a round. With two seats, once both have bid, each also gains the other's loss."""
        own = points(bid, tricks)
        if self.view.seats == 2 and (theirs := self.view.bids.get(1 - self.view.seat)) is not None:
            return own - points(theirs, self.view.cards_each - tricks)
        return own

    def chance(self, strength: int) -> tuple[float, float]:
        """Return a card's two chances of taking a later trick in the round: if the trick is unwanted, and if it is
        wanted.
        """
        out = self.table.unseen
        beaten = sum((other > strength) + (other == strength) / 2 for other in out) / len(out)
        demand = self.demand()

        def survives(least: float, more: float, factor: float) -> float:
            exponent = (self.view.seats - 1) * (least + more * demand)
            chance: float = (1 - beaten) ** (exponent * (factor if strength > PLAIN else 1))
            return chance

        wanted = survives(*WANTED, TRUMP_WANTED)
        return min(wanted, survives(*UNWANTED, TRUMP_UNWANTED)), wanted

    def demand(self) -> float:
        """Return the number of tricks that the others want, as a multiple of the tricks left."""
        left, total = len(self.view.hand), 0.0
        for seat in range(self.view.seats):
            missing = wanted_tricks(self.view, seat)
            if seat == self.view.seat:
                continue
            if seat not in self.view.bids:
                # An opponent that has not bid yet is assumed to want an equal share of the tricks.
                total += left / self.view.seats
            else:
                total += missing if 0 <= missing <= left else LOST * left
        return total / left

    def keeps(self, strength: int) -> float:
        """Return the chance that a card of this strength, if winning now, holds against the seats still to play."""
        out, cards = self.table.unseen, len(self.view.hand)
        trumps = sum(other > PLAIN for other in out)
        stronger = sum(other > strength for other in out)
        able = 1 - (1 - stronger / len(out)) ** cards
        if [*self.table.trick, strength][0] > PLAIN and stronger:  # A trump was led: trumps must follow.
            forced = (1 - (1 - trumps / len(out)) ** cards) * (stronger / trumps) ** max(1, cards * trumps / len(out))
        else:
            forced = (stronger / len(out)) ** cards
        kept = 1.0
        for seat in self.table.to_come:
            kept *= 1 - forced - (OVERTAKES * (able - forced) if eager(self.view, seat) else 0)
        return kept
