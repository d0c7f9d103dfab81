"""Text for cards and for the signs beside them: a colour's letter and a value, such as R0, G6/9 or P12."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from rich.text import Text

from arena.match.effects import Cause
from arena.replay.render.renderer import CardFace
from engine.game import Game

_STYLES: Final = {
    "red": "red",
    "yellow": "yellow",
    "green": "green",
    "blue": "bright_blue",
    "purple": "magenta",
}
"""Rich styles by name of the colour; other colours have no style."""
_FORCED: Final = {Cause.TIME: "!t", Cause.ILLEGALITY: "!i", Cause.SUSPENSION: "!s", Cause.ABSENCE: "!a"}


class Faces:
    """Names of a game's cards for tables and sentences."""

    def __init__(self, game: Game) -> None:
        self._cards = game.cards
        self._colours = game.colours

    def colour(self, card: int) -> str:
        """Return the name of a card's colour."""
        return self._colours[self._cards[card].colour]

    def letter(self, card: int) -> str:
        """Return the letter of a card's colour."""
        return self.colour(card)[0].upper()

    def style(self, card: int) -> str:
        """Return the Rich style of a card's colour."""
        return _STYLES.get(self.colour(card), "")

    def name(self, card: int) -> Text:
        """Return a card's name for a sentence."""
        return Text(self._cards[card].name, style=self.style(card))

    def code(self, card: int) -> Text:
        """Return a card's short code for a table."""
        return Text(f"{self.letter(card)}{self._values(card)}", style=self.style(card))

    def hand(self, hand: bytes) -> Text:
        """List the cards of a hand by colour: each colour's letter once, then the values."""
        text = Text("" if hand else "nothing")
        for _, group in groupby(hand, self.colour):
            cards = list(group)
            values = " ".join(map(self._values, cards))
            text.append(f"{'  ' if text else ''}{self.letter(cards[0])} {values}", self.style(cards[0]))
        return text

    def face(self, card: int) -> CardFace:
        """Return a card's appearance on a table."""
        return CardFace(self.colour(card), self._values(card))

    def _values(self, card: int) -> str:
        return "/".join(map(str, self._cards[card].values))


def forced_sign(cause: Cause | None) -> Text:
    """Return the sign for a forced choice in a table; empty for a bot's own choice."""
    return Text() if cause is None else Text(_FORCED[cause], style="red")


def forced_words(cause: Cause | None) -> str:
    """Return the remark on a forced choice at the end of a sentence; empty for a bot's own choice."""
    return "" if cause is None else f" (forced by {cause.value})"
