"""A finished round as it lies on the table, face up: what was called, the tricks, and what each seat got.

It is made of what the report of a round says, whichever game of tricks it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.queries.live import RoundRow
from engine.registry import GAMES


class Trick(NamedTuple):
    """One trick."""

    leader: int
    taker: int | None
    """None where nobody took it."""
    cards: Sequence[str]
    """By seat."""


class FaceUp(NamedTuple):
    """A round of which everything lies open."""

    turned: str
    """The card turned over; empty where none was."""
    called: Sequence[str]
    """The bids, or the cards that predict, by seat."""
    taken: Sequence[int]
    """Tricks, by seat."""
    tricks: Sequence[Trick]


def face_up(game: str, row: RoundRow) -> FaceUp | None:
    """Return a round as it lies there; None of a game that this program does not know, or that has no tricks."""
    record, known = row.record, GAMES.get(game)
    if known is None or not {"plays", "leaders", "takers", "taken"} <= record.keys():
        return None
    seats = len(row.points)
    names = [action.name for action in known.actions]
    tricks = []
    for number, leader in enumerate(record["leaders"]):
        played = record["plays"][number * seats : (number + 1) * seats]
        cards = [""] * seats
        for place, action in enumerate(played):
            cards[(leader + place) % seats] = names[action]
        taker = record["takers"][number] if number < len(record["takers"]) else seats
        tricks.append(Trick(leader, taker if taker < seats else None, cards))
    turned = record.get("turned")
    called = [known.cards[card].name for card in record.get("predictions", ())] or [*map(str, record.get("bids", ()))]
    return FaceUp("" if turned is None else known.cards[turned].name, called, record["taken"], tricks)
