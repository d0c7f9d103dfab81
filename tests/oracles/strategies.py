"""Hypothesis strategies for games: shuffled and stacked decks, and choices that Hypothesis can simplify."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from engine.game import Card, Game

STACKS: dict[str, Callable[[Card], int]] = {
    "by colour": lambda card: card.colour,
    "by colour, the last first": lambda card: -card.colour,
    "low values first, so that one hand has all 0s": lambda card: card.values[0],
    "high values first": lambda card: -card.values[0],
    "4s, 8s and 12s first": lambda card: card.values[0] not in (4, 8, 12),
    "cards of two values first": lambda card: -len(card.values),
}
"""Sort keys for stacked decks, by name."""


class TwoDecks:
    """Decks that alternate between rounds. The second is for odd rounds."""

    def __init__(self, even: Sequence[int], odd: Sequence[int]) -> None:
        self._decks = (even, odd)

    def __call__(self, number: int, size: int, count: int) -> Sequence[int]:
        return [card for card in self._decks[number % 2] if card < size][:count]

    def roll(self, number: int, roll: int, faces: int) -> int:
        return (self._decks[number % 2][0] + roll) % faces

    def __repr__(self) -> str:
        return f"TwoDecks{self._decks!r}"


def decks_of(game: Game) -> st.SearchStrategy[TwoDecks]:
    """A strategy for shuffled decks and for stacked decks, which are cut and have a few cards swapped."""
    cards = range(len(game.cards))

    def stacked(stack: str, cut: int, swaps: list[tuple[int, int]]) -> list[int]:
        deck = sorted(cards, key=lambda card: STACKS[stack](game.cards[card]))
        deck = deck[cut:] + deck[:cut]
        for one, other in swaps:
            deck[one], deck[other] = deck[other], deck[one]
        return deck

    places = st.sampled_from(cards)
    swaps = st.lists(st.tuples(places, places), max_size=4)
    deck = st.builds(stacked, st.sampled_from(sorted(STACKS)), places, swaps) | st.permutations(cards)
    return st.builds(TwoDecks, deck, deck)


class Tape:
    """A source of choices from the bytes of a tape, which repeats. An empty tape always chooses the first."""

    def __init__(self, tape: bytes) -> None:
        self._tape = tape or b"\0"
        self._place = 0

    def __call__(self, several: Sequence[int]) -> int:
        self._place = (self._place + 1) % len(self._tape)
        return several[self._tape[self._place] % len(several)]

    def __repr__(self) -> str:
        return f"Tape({self._tape!r})"


tapes = st.builds(Tape, st.binary(max_size=150))
