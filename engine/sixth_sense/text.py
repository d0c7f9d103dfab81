"""Views and rounds of 6th Sense in words, for programs and people that read text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.sixth_sense.cards import ACTIONS, CARDS, COLOURS
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView
from engine.words import choices, counted, standing

_NAMES: Final = tuple(action.name for action in ACTIONS)


def view_text(view: SixthSenseView, legal: Sequence[int] = ()) -> str:
    """Return everything in a view as text; `legal`: the actions to list with their numbers."""
    length = f"of {view.rounds}" if view.rounds else f"of a game to {counted(view.target, 'point')}"
    novice = ", novice points" if view.novice else ""
    each = counted(view.hand_size, "card")
    lines = [
        f"6th Sense, round {view.round + 1} {length}: {view.seats} seats, {each} each{novice}.",
        f"You are seat {view.seat}. Seat {view.dealer} deals.",
        _trump(view.turned, late=view.late_trump and not view.leaders),
        f"Your hand: {', '.join([CARDS[card].name for card in view.hand]) or 'nothing'}.",
        *(_seat(view, seat) for seat in range(view.seats)),
        *_tricks(view.plays, view.leaders, view.takers, view.worths, view.peeks, view.seats),
    ]
    if legal:
        lines += ["Your legal actions:", *choices(_NAMES, legal)]
    return "\n".join(lines)


def round_text(report: SixthSenseRound) -> str:
    """Return a finished round as text, with all cards."""
    results = zip(report.predictions, report.taken, report.points, report.scores, strict=True)
    return "\n".join(
        [
            f"6th Sense, round {report.round + 1} is over. {_trump(report.turned, late=False)}",
            *_tricks(report.plays, report.leaders, report.takers, report.worths, b"", len(report.points)),
            *(
                f"Seat {seat} predicted {CARDS[card].name} and took {taken}: {counted(points, 'point')}; "
                f"its score is {score}."
                for seat, (card, taken, points, score) in enumerate(results)
            ),
        ]
    )


def blocked_places(trick: bytes) -> dict[int, int]:
    """Map the blocked place of a trick, if any, to the place of the card that blocks it (S7)."""
    found: dict[int, int] = {}
    for place, action in enumerate(trick):
        blocked = ACTIONS[action].place
        if blocked is not None:
            found[blocked] = place
    return found


def lowest_takes(trick: bytes) -> bool:
    """Return whether the lowest card takes the trick (S10)."""
    blocked = blocked_places(trick)
    fours = [place for place, action in enumerate(trick) if ACTIONS[action].value == 4 and place not in blocked]
    return len(fours) % 2 == 1


def _trump(turned: int | None, late: bool) -> str:
    if turned is None:
        return (
            "The card for trump is turned when all have predicted."
            if late
            else "No card was turned: there is no trump."
        )
    return f"Trump is {COLOURS[CARDS[turned].colour]}: {CARDS[turned].name} was turned."


def _seat(view: SixthSenseView, seat: int) -> str:
    known = view.known_predictions[seat] - 1
    if seat == view.seat and view.prediction is not None:
        known = view.prediction
    who = f"Seat {seat}{' (you)' if seat == view.seat else ''}: score {view.scores[seat]}"
    if not view.leaders and known < 0:
        return f"{who}."  # No seat may know which other seats have predicted (S4).
    taken = f"has {counted(view.taken[seat], 'trick')}"
    if known < 0:
        return f"{who}; its prediction is hidden, {taken}."
    over = not view.hand and len(view.takers) == len(view.leaders)
    return f"{who}; predicted {CARDS[known].name}, {taken}: {standing(CARDS[known].values, view.taken[seat], over)}."


def _tricks(plays: bytes, leaders: bytes, takers: bytes, worths: bytes, peeks: bytes, seats: int) -> list[str]:
    lines = []
    for number, leader in enumerate(leaders):
        trick = plays[number * seats : (number + 1) * seats]
        words = [
            f"seat {(leader + place) % seats} {'plays' if place else 'leads'} {_NAMES[action]}"
            for place, action in enumerate(trick)
        ]
        if number < len(takers):
            words += _outcome(trick, leader, takers[number], worths[number], number < len(peeks) and peeks[number] > 0)
        else:
            words.append(f"seat {(leader + len(trick)) % seats} is to {'play' if trick else 'lead'}")
        lines.append(f"Trick {number + 1}: {', '.join(words)}.")
    return lines


def _outcome(trick: bytes, leader: int, taker: int, worth: int, peeked: bool) -> list[str]:
    if taker == len(trick):
        return ["nobody takes it"]
    words = [f"seat {taker} takes it"]
    if lowest_takes(trick):
        words.append("as the lowest card counts after an odd number of 4s")
    if worth == 2:
        words.append("it counts as two")
    if peeked:
        words.append(f"seat {leader} looks at the prediction of seat {taker}")
    return words
