"""Views and rounds of Nullern in words, for programs and people that read text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.nullern.cards import ACTIONS, CARDS, COLOURS
from engine.nullern.score import HUPFER_COST
from engine.nullern.view import NullernRound, NullernView
from engine.words import choices, counted, standing

_NAMES: Final = tuple(action.name for action in ACTIONS)


def view_text(view: NullernView, legal: Sequence[int] = ()) -> str:
    """Return everything in a view as text; `legal`: the actions to list with their numbers."""
    blind = view.round == view.rounds - 1
    bidding = [(view.dealer + 1 + place) % view.seats for place in range(view.seats)]
    each = counted(view.hand_size, "card")
    lines = [
        f"Nullern, round {view.round + 1} of {view.rounds}: {view.seats} seats, {each} each.",
        f"You are seat {view.seat}. Seat {view.dealer} deals.",
        _trump(view.turned),
        "Nobody may see a card before it is played, its owner included."
        if blind
        else f"Your hand: {_cards(view.hand) or 'nothing'}.",
        *(_seat(view, seat) for seat in bidding),
        *_tricks(view.plays, view.leaders, view.takers, view.seats, view.turned),
    ]
    if legal:
        lines += ["Your legal actions:", *choices(_NAMES, legal)]
    return "\n".join(lines)


def round_text(report: NullernRound) -> str:
    """Return a finished round as text, with all cards."""
    seats = len(report.points)
    results = zip(report.bids, report.taken, report.points, report.scores, report.missed, strict=True)
    return "\n".join(
        [
            f"Nullern, round {report.round + 1} is over. {_trump(report.turned)}",
            *_tricks(report.plays, report.leaders, report.takers, seats, report.turned),
            *(
                f"Seat {seat} bid {bid} and took {taken}: {counted(points, 'point')}{', a Hupfer' if missed else ''}; "
                f"its score is {score}."
                for seat, (bid, taken, points, score, missed) in enumerate(results)
            ),
        ]
    )


def winner_words(trick: bytes, turned: int) -> str:
    """Describe the card that took a trick (N6)."""
    trumps = sum(CARDS[card].colour == CARDS[turned].colour for card in trick)
    if trumps:
        return "the only trump" if trumps == 1 else "the highest trump"
    values = [CARDS[card].values[0] for card in trick]
    return "the highest value" if values.count(max(values)) == 1 else "the first of the highest values"


def _trump(turned: int) -> str:
    return f"Trump is {COLOURS[CARDS[turned].colour]}: {CARDS[turned].name} was turned."


def _cards(hand: bytes) -> str:
    return ", ".join([CARDS[card].name for card in hand])


def _seat(view: NullernView, seat: int) -> str:
    bid, taken = view.bids[seat] - 1, view.taken[seat]
    own = " (you)" if seat == view.seat else ""
    cost = f", {counted(view.hupfers[seat], 'Hupfer')} of −{HUPFER_COST}" if view.hupfers[seat] else ""
    if bid < 0:
        return f"Seat {seat}{own}: score {view.scores[seat]}{cost}; has not bid."
    over = len(view.takers) == view.hand_size
    return (
        f"Seat {seat}{own}: score {view.scores[seat]}{cost}; bid {bid}, has {counted(taken, 'trick')}: "
        f"{standing((bid,), taken, over)}."
    )


def _tricks(plays: bytes, leaders: bytes, takers: bytes, seats: int, turned: int) -> list[str]:
    lines = []
    for number, leader in enumerate(leaders):
        trick = plays[number * seats : (number + 1) * seats]
        words = [
            f"seat {(leader + place) % seats} {'plays' if place else 'leads'} {CARDS[card].name}"
            for place, card in enumerate(trick)
        ]
        if number < len(takers):
            words.append(f"seat {takers[number]} takes it with {winner_words(trick, turned)}")
        else:
            words.append(f"seat {(leader + len(trick)) % seats} is to {'play' if trick else 'lead'}")
        lines.append(f"Trick {number + 1}: {', '.join(words)}.")
    return lines
