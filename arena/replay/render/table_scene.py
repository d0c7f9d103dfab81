"""The table of a trick-taking game at one step, as one seat may see it. It draws nothing."""

from __future__ import annotations

from typing import NamedTuple


class CardFace(NamedTuple):
    """A card as it is seen on the table."""

    colour: str
    """Name of its colour, such as "red"; empty for a card that is face down."""
    text: str
    """Value, or what it was played as."""
    note: str = ""
    """A sign beside it, such as "*" for trump."""
    blocked: bool = False


class SeatScene(NamedTuple):
    """One seat of a table."""

    name: str
    house: bool
    hand: tuple[CardFace, ...] | None
    """None where it may not be seen."""
    called: str
    """The bot's bid or prediction, in a few characters; empty if unknown."""
    taken: int
    score: int
    points: int | None
    """Points of the round; None until it is over."""
    card: CardFace | None
    """The card that it played to the trick that is shown; None before it has played."""
    deals: bool
    leads: bool
    takes: bool
    """True if it took the trick that is shown."""
    chose: bool
    """True if the choice that led to this step was its own."""


class TableScene(NamedTuple):
    """A table at one step."""

    seats: tuple[SeatScene, ...]
    turned: CardFace | None
    """The card that was turned for trump."""
    trick: int | None
    """Number of the trick that is shown, from 0; None before the first."""
