"""A table of Nullern with one round whose hands a test chooses. Actions are given by name."""

from __future__ import annotations

from collections.abc import Sequence

from engine.game import Decks
from engine.nullern import NULLERN, NullernRound
from engine.nullern.state import NullernState
from tests.engine.decks import Arranged

CARDS = {card.name: index for index, card in enumerate(NULLERN.cards)}
ACTIONS = {action.name: index for index, action in enumerate(NULLERN.actions)}
BLIND_ROUND = 19


def new(seats: int, decks: Decks) -> NullernState:
    """Return a new game, after reading all properties of its state."""
    state = NULLERN.new(seats, decks)
    assert isinstance(state, NullernState)
    return state


def pass_by(state: NullernState, number: int) -> NullernState:
    """Make the default choices up to a round or to the end."""
    while state.player >= 0 and state.round < number:
        state.apply(state.fallback(state.player), state.player)
    return state


class Table:
    """A game at the beginning of the first round with hands of the requested size, or of the blind round."""

    def __init__(self, *hands: str, turned: str = "blue 20", number: int | None = None) -> None:
        """Create a table with one hand per seat, such as "red 7, blue 6". All hands have the same length."""
        chosen = [[CARDS[name] for name in hand.split(", ")] for hand in hands]
        self.number = len(chosen[0]) - 1 if number is None else number
        self.dealt = [*(card for hand in chosen for card in hand), CARDS[turned]]
        self.state = pass_by(new(len(hands), Arranged(self.deck)), self.number)

    def deck(self, number: int, size: int, count: int) -> Sequence[int]:
        """Return the chosen cards for the chosen round, and unshuffled cards for the other rounds."""
        if number == self.number:
            assert count == len(self.dealt)
            return self.dealt
        return range(count)

    def play(self, *names: str) -> Table:
        """Make these choices, each for the seat whose turn it is. They must be legal."""
        for name in names:
            assert name in self.choices(), f"{name!r} is not among {self.choices()}"
            self.state.apply(ACTIONS[name], self.state.player)
        return self

    def bid(self, *bids: int) -> Table:
        """Make the seats' bids in the order of bidding."""
        return self.play(*(f"bid {bid}" for bid in bids))

    def choices(self) -> list[str]:
        """Return the legal actions of the seat whose turn it is."""
        return [NULLERN.actions[action].name for action in self.state.legal(self.state.player)]

    def report(self) -> NullernRound:
        """Return the report of the chosen round when it is over."""
        report = self.state.report
        assert report is not None
        assert report.round == self.number
        return report
