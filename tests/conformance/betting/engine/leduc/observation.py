"""A view of Leduc poker as numbers."""

from __future__ import annotations

from engine.leduc.cards import ACTIONS, CARDS
from engine.leduc.view import LeducView

from engine.observation import Field, Part, laid_out

LONGEST = 4
"""Maximum number of actions in a betting round."""
MOST = 13
"""Maximum number of points that a round can cost (L6)."""
MOST_ROUNDS = 50


def fields() -> tuple[Field, ...]:
    """Return the fields of a vector."""
    return laid_out(
        (
            Part("card", (len(CARDS),), "1 for the seat's own card"),
            Part("board", (len(CARDS),), "1 for the card in the middle, once it is turned up"),
            Part("first", (LONGEST, len(ACTIONS)), "the actions of the first betting round, one after the other"),
            Part("second", (LONGEST, len(ACTIONS)), "those of the second"),
            Part("score", (), "the seat's points before this round ÷ 650", -1, 1, 1 / 128, 128),
            Part("opens", (), "1 where the seat acts first"),
            Part("left", (), "rounds still to come ÷ 50", unit=1 / MOST_ROUNDS),
        )
    )


def vector(view: LeducView) -> list[float]:
    """Return the view as the numbers that `fields` describes."""
    bets = [
        float(place < len(actions) and actions[place] == action)
        for actions in (view.first, view.second)
        for place in range(LONGEST)
        for action in range(len(ACTIONS))
    ]
    return [
        *(float(card == view.card) for card in range(len(CARDS))),
        *(float(card == view.board) for card in range(len(CARDS))),
        *bets,
        view.scores[view.seat] / (MOST * MOST_ROUNDS),
        float(view.seat == view.opener),
        (view.rounds - view.round - 1) / MOST_ROUNDS,
    ]
