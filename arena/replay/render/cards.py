"""How cards and the signs beside them look: a colour's letter and a value, such as R0, G6/9 or P12."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from rich.text import Text

from arena.match.effects import Cause
from engine.game import Game

_STYLES: Final = {
    "red": "red",
    "yellow": "yellow",
    "green": "green",
    "blue": "bright_blue",
    "purple": "magenta",
}
"""By the colour's name."""
_FORCED: Final = {Cause.TIME: "!t", Cause.ILLEGALITY: "!i", Cause.SUSPENSION: "!s", Cause.ABSENCE: "!a"}


class Faces:
    """The cards of a game as tables and sentences show them."""

    def __init__(self, game: Game) -> None:
        self._cards = game.cards
        self._colours = game.colours

    def colour(self, card: int) -> str:
        """The name of a card's colour."""
        return self._colours[self._cards[card].colour]

    def letter(self, card: int) -> str:
        """The letter of a card's colour."""
        return self.colour(card)[0].upper()

    def style(self, card: int) -> str:
        """The style of a card's colour."""
        return _STYLES[self.colour(card)]

    def name(self, card: int) -> Text:
        """A card in a sentence."""
        return Text(self._cards[card].name, style=self.style(card))

    def code(self, card: int) -> Text:
        """A card in a table."""
        return Text(f"{self.letter(card)}{self._values(card)}", style=self.style(card))

    def hand(self, hand: bytes) -> Text:
        """The cards of a hand by colour: the letter once, then the values."""
        text = Text("" if hand else "nothing")
        for _, group in groupby(hand, self.colour):
            cards = list(group)
            values = " ".join(map(self._values, cards))
            text.append(f"{'  ' if text else ''}{self.letter(cards[0])} {values}", self.style(cards[0]))
        return text

    def _values(self, card: int) -> str:
        return "/".join(map(str, self._cards[card].values))


def forced_sign(cause: Cause | None) -> Text:
    """Why the server made a choice, in a table; nothing where it did not."""
    return Text() if cause is None else Text(_FORCED[cause], style="red")


def forced_words(cause: Cause | None) -> str:
    """Why the server made a choice, at the end of a sentence; nothing where it did not."""
    return "" if cause is None else f" (forced by {cause.value})"
