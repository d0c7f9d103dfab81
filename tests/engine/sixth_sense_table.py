"""A table of 6th Sense whose hands a test chooses. Actions are given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.game import Option
from engine.sixth_sense import SIXTH_SENSE
from engine.sixth_sense.cards import PREDICT
from engine.sixth_sense.state import SixthSenseState
from tests.engine.decks import Arranged

CARDS = {card.name: index for index, card in enumerate(SIXTH_SENSE.cards)}
ACTIONS = {action.name: index for index, action in enumerate(SIXTH_SENSE.actions)}
HAND_SIZE = {2: 15, 3: 14, 4: 14, 5: 13, 6: 11}


def named(cards: str) -> list[int]:
    """Return the cards in a list such as "red 7, blue 6/9"."""
    return [CARDS[name.strip()] for name in cards.split(",") if name.strip()]


class Table:
    """A game whose first round has the requested hands, completed with cards of the given colours."""

    def __init__(
        self,
        hands: Mapping[int, str],
        *,
        seats: int = 4,
        turned: str = "blue 14",
        fill: Mapping[int, str] | None = None,
        **options: Option,
    ) -> None:
        """Create a table. The first card of each hand is its prediction, and `fill` names the colours of a seat's other
        cards.
        """
        size = HAND_SIZE[seats]
        chosen = [named(hands.get(seat, "")) for seat in range(seats)]
        used = {card for hand in chosen for card in hand} | {CARDS[turned]}
        colours = SIXTH_SENSE.colours[: 4 if seats == 2 else 5]
        spare = [card for card in range(14 * len(colours)) if card not in used]
        fill = fill or {}
        for seat in sorted(range(seats), key=lambda seat: seat not in fill):
            allowed = fill.get(seat, ", ".join(colours)).split(", ")
            mine = [card for card in spare if SIXTH_SENSE.colours[SIXTH_SENSE.cards[card].colour] in allowed]
            mine = mine[: size - len(chosen[seat])]
            chosen[seat] += mine
            spare = [card for card in spare if card not in mine]
            assert len(chosen[seat]) == size, f"not enough cards for seat {seat}"
        self.dealt = [*(card for hand in chosen for card in hand), CARDS[turned], *spare]
        self.asked: list[tuple[int, int, int]] = []
        self.predictions = [hand[0] for hand in chosen]
        state = SIXTH_SENSE.new(seats, Arranged(self.deck), **options)
        assert isinstance(state, SixthSenseState)
        self.state = state

    def deck(self, number: int, size: int, count: int) -> Sequence[int]:
        self.asked.append((number, size, count))
        return self.dealt[:count]

    def predict(self) -> Table:
        """Predict for each seat with the first card of its hand."""
        for seat, card in enumerate(self.predictions):
            self.state.apply(PREDICT + card, seat)
        return self

    def play(self, *names: str) -> Table:
        """Make these choices, each for the seat whose turn it is. They must be legal."""
        for name in names:
            assert name in self.choices(), f"{name!r} is not among {self.choices()}"
            self.state.apply(ACTIONS[name], self.state.player)
        return self

    def choices(self) -> list[str]:
        """Return the legal actions of the seat whose turn it is."""
        return [SIXTH_SENSE.actions[action].name for action in self.state.legal(self.state.player)]

    def plays_seen(self, seat: int) -> list[str]:
        """Return the plays in a seat's view."""
        return [SIXTH_SENSE.actions[action].name for action in self.state.view(seat).plays]

    def finish_round(self) -> Table:
        """Play the first legal action until the round is over."""
        number = self.state.round
        while self.state.player >= 0 and self.state.round == number:
            self.state.apply(self.state.legal(self.state.player)[0], self.state.player)
        return self
