"""Small deals of Leduc poker for the reference implementation."""

from __future__ import annotations

from engine.leduc import LEDUC
from tests.oracles.leduc import PlainGame

from tests.conformance.perft.cases import Case
from tests.conformance.perft.deals import CaseDecks, Rules, as_it_is
from tests.oracles.lines import Plain


def plain(case: Case) -> Plain:
    decks = CaseDecks(LEDUC, case)
    rounds = int(case.options.get("rounds", 8))
    return PlainGame([[LEDUC.cards[card].name for card in decks(number, 6, 3)] for number in range(rounds)])


RULES = Rules(LEDUC, plain, as_it_is)
