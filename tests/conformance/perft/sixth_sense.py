"""Small deals of 6th Sense for the reference implementation."""

from __future__ import annotations

from typing import Any

from engine.sixth_sense import SIXTH_SENSE
from tests.conformance.perft.cases import Case
from tests.conformance.perft.deals import CaseDecks, Rules
from tests.oracles import sixth_sense
from tests.oracles.lines import Plain


def plain(case: Case) -> Plain:
    decks, size = CaseDecks(SIXTH_SENSE, case), 56 if case.seats == 2 else 70
    cards = [sixth_sense.card_named(card.name) for card in SIXTH_SENSE.cards]
    return sixth_sense.PlainGame(
        case.seats,
        [[cards[card] for card in decks(number, size, size)] for number in range(60)],
        size=len(case.hands[0]) if case.hands else None,
        novice=bool(case.options.get("novice")),
        target=int(case.options.get("target", 0)),
        late_trump=bool(case.options.get("late_trump")),
    )


def smaller(state: Any, size: int) -> Any:
    return type(state)(state.setting._replace(hand_size=size))


RULES = Rules(SIXTH_SENSE, plain, smaller)
