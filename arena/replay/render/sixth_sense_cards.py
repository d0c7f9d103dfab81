"""How cards of 6th Sense and the signs beside them look: a colour's letter and a value, such as R0, G6/9 or P12."""

from __future__ import annotations

from itertools import groupby

from rich.text import Text

from arena.match.effects import Cause
from engine.sixth_sense.cards import CARDS, COLOURS

STYLES = ("red", "yellow", "green", "bright_blue", "magenta")
FORCED = {Cause.TIME: "!t", Cause.ILLEGALITY: "!i", Cause.SUSPENSION: "!s"}
LEGEND = Text(
    "▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it\n"
    "? leader peeked  !t !i !s forced by time, illegality, suspension",
    style="dim",
)


def hand_text(hand: bytes) -> Text:
    """The cards of a hand by colour: the letter once, then the values."""
    text = Text("" if hand else "nothing")
    for colour, cards in groupby(hand, lambda card: CARDS[card].colour):
        values = " ".join(_values(card) for card in cards)
        text.append(f"{'  ' if text else ''}{COLOURS[colour][0].upper()} {values}", STYLES[colour])
    return text


def forced_sign(cause: Cause | None) -> Text:
    """Why the server made a choice; nothing where it did not."""
    return Text() if cause is None else Text(FORCED[cause], style="red")


def code(card: int) -> Text:
    """A card in a table."""
    return Text(f"{COLOURS[CARDS[card].colour][0].upper()}{_values(card)}", style=card_style(card))


def _values(card: int) -> str:
    return "/".join(map(str, CARDS[card].values))


def card_style(card: int) -> str:
    """The style of a card's colour."""
    return STYLES[CARDS[card].colour]
