"""The view of a seat in Leduc poker, and the report of a finished round."""

from __future__ import annotations

from typing import NamedTuple


class LeducView(NamedTuple):
    """Everything that one seat may know."""

    seat: int
    seats: int
    round: int
    rounds: int
    opener: int
    """The seat that acts first in both betting rounds."""
    card: int
    board: int | None
    """The board card, or None until the first betting round is over."""
    first: bytes
    """The actions of the first betting round."""
    second: bytes
    scores: tuple[int, ...]


class LeducRound(NamedTuple):
    """A finished round with all cards shown."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    opener: int
    cards: bytes
    board: int
    first: bytes
    second: bytes
