"""Views and rounds of Leduc poker in words."""

from __future__ import annotations

from collections.abc import Sequence

from engine.leduc.cards import ACTIONS, CARDS
from engine.leduc.view import LeducRound, LeducView

from engine.words import choices


def view_text(view: LeducView, legal: Sequence[int] = ()) -> str:
    """Return everything in a view as text. `legal` are the actions to list with their numbers."""
    lines = [
        f"Leduc poker, round {view.round + 1} of {view.rounds}. You are seat {view.seat}; seat {view.opener} opens.",
        f"Your card: {CARDS[view.card].name}. The card on the table: {_board(view.board)}.",
        f"First betting round: {_actions(view.first)}. Second: {_actions(view.second)}.",
        f"Scores: {', '.join([str(score) for score in view.scores])}.",
    ]
    if legal:
        lines += ["Your legal actions:", *choices([action.name for action in ACTIONS], legal)]
    return "\n".join(lines)


def round_text(report: LeducRound) -> str:
    """Return a finished round with all cards as text."""
    cards = ", ".join([CARDS[card].name for card in report.cards])
    return (
        f"Leduc poker, round {report.round + 1} is over: {cards}; on the table {_board(report.board)}.\n"
        f"First betting round: {_actions(report.first)}. Second: {_actions(report.second)}.\n"
        f"Points: {', '.join([str(points) for points in report.points])}."
    )


def _board(board: int | None) -> str:
    return "none" if board is None else CARDS[board].name


def _actions(actions: bytes) -> str:
    return ", ".join([ACTIONS[action].name for action in actions]) or "none"
