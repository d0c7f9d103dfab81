"""Small deals of Nullern for the reference implementation."""

from __future__ import annotations

from engine.nullern import NULLERN
from tests.conformance.perft.cases import Case
from tests.conformance.perft.deals import CaseDecks, Rules, as_it_is
from tests.oracles import nullern
from tests.oracles.lines import Plain


def plain(case: Case) -> Plain:
    decks = CaseDecks(NULLERN, case)
    cards = [nullern.card_named(card.name) for card in NULLERN.cards]
    return nullern.PlainGame(case.seats, [[cards[card] for card in decks(number, 80, 80)] for number in range(20)])


RULES = Rules(NULLERN, plain, as_it_is)
