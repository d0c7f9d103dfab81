"""A finished round with all cards face up: bids or predictions, tricks, and points.

It is computed from the round's report, for any trick-taking game.
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
    """The seat that took the trick; None if no seat did."""
    cards: Sequence[str]
    """The cards by seat."""


class FaceUp(NamedTuple):
    """A round with all cards open."""

    turned: str
    """The card turned over; empty if there is none."""
    called: Sequence[str]
    """The bids, or the cards that make the prediction, by seat."""
    taken: Sequence[int]
    """Number of tricks taken, by seat."""
    tricks: Sequence[Trick]


def face_up(game: str, row: RoundRow) -> FaceUp | None:
    """Return a round face up; None for an unknown game or one without tricks."""
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
