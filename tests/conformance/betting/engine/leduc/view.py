"""What a seat may know of Leduc poker, and what a round shows when it is over."""

from __future__ import annotations

from typing import NamedTuple


class LeducView(NamedTuple):
    """Everything one seat may know."""

    seat: int
    seats: int
    round: int
    rounds: int
    opener: int
    """The seat that acts first in both betting rounds."""
    card: int
    board: int | None
    """None until the first betting round is over."""
    first: bytes
    """The actions of the first betting round."""
    second: bytes
    scores: tuple[int, ...]


class LeducRound(NamedTuple):
    """A round that is over, the cards face up."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    opener: int
    cards: bytes
    board: int
    first: bytes
    second: bytes
