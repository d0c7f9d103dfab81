"""The expected value of a round of 6th Sense, by counting cards: the chance of this trick, and the rest of the round.

Every card left in hand will be played either to take a trick or to avoid one, whichever is better at that point. Its
chance of taking a trick depends on the unseen cards. A prediction is chosen by the same computation: the value of the
round with each card as the prediction. The constants were tuned by playing.
"""

import math
from itertools import pairwise

from arena_client import Action, Catalog, SixthSenseView
from arena_client.sixth_sense import Laid, after, points, read, taker, targets

OVERTAKES = 0.55
"""Frequency with which an opponent that can overtake does so."""
HIGHER = 0.37
"""Reduction of a card's chance by an opponent with a higher card of the same colour, over the rest of a round."""
SHED = 0.93
"""Additional factor for a card that is not a trump, since it can be discarded on a different colour."""
CONTENT = 0.3
"""Frequency with which an opponent that certainly has all its predicted tricks overtakes if it can."""
RUFFS = 0.53
"""Frequency with which an opponent that cannot follow suit plays a trump if it holds one."""
RUFFED_IN = 0.55
"""Frequency with which a trump takes a trick of another colour that it could not take by leading."""
WAITING = 1.3
"""Exponent that lowers a card's chance in a single trick to its chance over a whole round."""
UNWILLING = 5.5
"""Exponent that lowers a card's chance of taking a trick if its player avoids tricks."""


class Outlook:
    """The prospects of the viewing seat for the rest of a round."""

    def __init__(self, game: Catalog, view: SixthSenseView) -> None:
        self.game = game
        self.view = view
        self.table = table = read(game, view)
        self.share = len(view.hand) / max(len(table.unseen), len(view.hand), 1)
        """The chance that a given opponent holds a given unseen card."""
        self.out: list[list[int]] = [[] for _ in game.colours]
        """The unseen cards of each colour."""
        for card in table.unseen:
            self.out[game.cards[card].colour].append(card)
        self.chances = {card: self.chance(card) for card in view.hand}
        """For each card in hand, two chances of taking a trick: if the trick is unwanted, and if it is wanted."""

    def worth_of(self, action: Action) -> float:
        """Return the expected score after an action."""
        taken = self.view.taken[self.view.seat]
        rest = {card: chance for card, chance in self.chances.items() if card != action.card}
        if action.kind == "predict":
            assert action.card is not None
            return self.worth(action.card, 0, rest)
        if action.kind == "double":
            return self.worth(self.view.prediction, taken + (action.value or 0), rest)
        if action.kind == "peek":
            return action.value or 0  # Peeking never makes a seat know less.
        place = self.view.seats - 1 - len(self.table.to_come)
        trick = after(self.table.trick, self.game, action, self.view.seat, place)
        without = self.worth(self.view.prediction, taken, rest)
        if taker(trick, self.table.trump) != self.view.seat:
            return without
        with_it = self.worth(self.view.prediction, taken + 1, rest)
        if any(laid.value == 12 for laid in trick):
            with_it = max(with_it, self.worth(self.view.prediction, taken + 2, rest))
        kept = self.keeps(trick)
        return kept * with_it + (1 - kept) * without

    def worth(self, prediction: int, tricks: int, rest: dict[int, tuple[float, float]]) -> float:
        """Return the expected score with a prediction, the tricks taken, and the rest of the hand still to play.

        The score is computed backwards, from the end of the round, where it is certain. Each earlier card adds a
        choice: to take a trick with it or not, whichever is better.
        """
        aims, novice = targets(self.game, prediction), self.view.novice
        worths: list[float] = [points(aims, tricks + more, novice=novice) for more in range(len(rest) + 1)]
        for unwanted, wanted in rest.values():
            worths = [less + (wanted if more > less else unwanted) * (more - less) for less, more in pairwise(worths)]
        return worths[0]

    def chance(self, card: int) -> tuple[float, float]:
        """Return a card's two chances of taking a later trick in the round: if the trick is unwanted, and if it is
        wanted.
        """
        colour, trump = self.game.cards[card].colour, self.table.trump
        values = self.game.cards[card].values
        rivals = [self.game.cards[other].values[-1] for other in self.out[colour]]

        def led(value: int) -> float:
            over = sum(rival > value for rival in rivals)
            beaten = HIGHER * self.holds(over)
            if trump is not None and colour != trump:
                beaten += RUFFS * (1 - self.holds(len(self.out[colour]))) * self.holds(len(self.out[trump]))
            kept: float = (1 - beaten) ** (self.view.seats - 1)
            if colour == trump:
                kept = 1 - (1 - kept) * (1 - RUFFED_IN)
            return math.pow(kept, WAITING)

        unwanted = led(values[0]) ** UNWILLING * (1 if colour == trump else SHED)
        return unwanted, led(values[-1])

    def holds(self, cards: int) -> float:
        """Return the chance that an opponent holds at least one of this many unseen cards."""
        return 1 - (1 - self.share) ** cards

    def keeps(self, trick: list[Laid]) -> float:
        """Return the chance that the card now winning the trick holds against the seats still to play."""
        trump, led = self.table.trump, trick[0].colour
        follow = other = 0
        for card in self.table.unseen:
            if self.overtakes(trick, card):
                if self.game.cards[card].colour == led:
                    follow += 1
                else:
                    other += 1
        kept = 1.0
        for seat in self.table.to_come:
            follows = 0.0 if (seat, led) in self.table.void else self.holds(len(self.out[led]))
            beats = 0.0 if (seat, led) in self.table.void else self.holds(follow)
            ruffs = 0.0 if trump is not None and (seat, trump) in self.table.void else self.holds(other)
            kept *= 1 - self.eagerness(seat) * beats - RUFFS * (1 - follows) * ruffs
        return kept

    def overtakes(self, trick: list[Laid], card: int) -> bool:
        """Return true if an unseen card would beat the card winning the trick."""
        colour, values = self.game.cards[card].colour, self.game.cards[card].values
        later = self.view.seats  # A place after all cards in the trick.
        return taker([*trick, Laid(-1, later, colour, values[-1])], self.table.trump) == -1

    def eagerness(self, seat: int) -> float:
        """Return the frequency with which an opponent overtakes if it can."""
        known = self.view.known_predictions.get(seat)
        content = known is not None and self.view.taken[seat] >= max(targets(self.game, known))
        return CONTENT if content else OVERTAKES
