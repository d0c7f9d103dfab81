"""Slightly wrong rules, one at a time. Each must change the fingerprint or differ from the reference implementation."""

from __future__ import annotations

from importlib import import_module
from random import Random

import pytest

from engine.deal import SeededDecks
from engine.game import Game, Option
from engine.registry import GAMES
from tests.conformance.mutants import Mutant, mutated, source_of
from tests.conformance.perft.cases import path_of, read
from tests.conformance.perft.tables import RULES, count
from tests.oracles.agreement import agree_on_nullern, agree_on_sixth_sense

CASES = {name: {case.name: case for case in read(path_of(name).read_text())[1]} for name in RULES}


def nullern(rule: str, module: str, old: str, new: str) -> Mutant:
    return Mutant(rule, "nullern", module, old, new)


def sixth_sense(rule: str, module: str, old: str, new: str) -> Mutant:
    return Mutant(rule, "sixth_sense", module, old, new)


IN_THE_FINGERPRINT = [
    (
        "three seats, two cards each",
        nullern(
            "of equal values the last played takes the trick",
            "state",
            "rank > highest",
            "rank >= highest",
        ),
    ),
    (
        "four seats with three cards each, who must play trumps to a trump",
        nullern("trumps need not be followed", "state", "hand.strip(self._others) or hand", "hand"),
    ),
    (
        "two seats, two cards each",
        nullern(
            "who holds a trump must always play it",
            "state",
            "_TRUMP_LED if self._is_trump[chosen] else _FREE",
            "_TRUMP_LED",
        ),
    ),
    (
        "two seats, three cards each",
        nullern("trumps take nothing", "tricks", "COLOUR_SIZE * (what.colour == trump)", "0"),
    ),
    (
        "three seats, two cards each",
        nullern(
            "the last to name the highest bid leads",
            "tricks",
            "in_order.index(max(in_order))",
            "in_order.rindex(max(in_order))",
        ),
    ),
    (
        "four seats, one card each",
        nullern(
            "nobody may bid the whole hand", "tricks", "range(BID, BID + size + 1)", "range(BID, BID + max(size, 1))"
        ),
    ),
    (
        "three seats in the blind round",
        nullern("a Hupfer costs 4", "score", "HUPFER_COST: Final = 5", "HUPFER_COST = 4"),
    ),
    ("three seats, one card each", nullern("0 kept earns 10", "score", "10 + tricks if tricks else 20", "10 + tricks")),
    (
        "three seats, one card each",
        nullern("a bid missed earns nothing", "score", "        return tricks\n", "        return 0\n"),
    ),
    (
        "two seats, one card each",
        nullern(
            "Hupfers cost in every round",
            "state",
            "if self.blind:\n            self.scores",
            "if self.hupfers:\n            self.scores",
        ),
    ),
    ("seven seats in the blind round", nullern("there is one more round", "state", "2, 1, 1)", "2, 1, 1, 1)")),
    (
        "three seats: a blocked lead hands the led colour on",
        sixth_sense("a colour need not be followed", "state", "hand.strip(OTHERS[due])", "hand"),
    ),
    (
        "three seats: after a blocked lead without an heir the next seat plays anything",
        sixth_sense(
            "a blocked lead without an heir is still followed",
            "state",
            "if blocker > 1 else _LEAD",
            "if blocker > 1 else self._due",
        ),
    ),
    (
        "four seats: who follows a blocked lead follows its heir",
        sixth_sense("a blocked lead keeps its colour", "state", "if place == 0:", "if place < 0:"),
    ),
    (
        "four seats: one block a trick",
        sixth_sense(
            "a trick has room for two blocks",
            "state",
            "if self._blocked >= 0:\n                return follows or hand",
            "if self._blocked >= 9:\n                return follows or hand",
        ),
    ),
    (
        "three seats: a blocked 4, 8 and 12 have no effect",
        sixth_sense("a blocked card still counts", "state", "trick = put(trick, self._blocked, NOTHING)", "pass"),
    ),
    (
        "two seats: a block leaves nothing in the trick, and the same seat leads again",
        sixth_sense(
            "a blocked trick of two goes to its leader",
            "state",
            "self.worths = self.worths + SINGLE[0]",
            "self.taken[self._leader] += 1",
        ),
    ),
    (
        "three seats: one, two or three 4s",
        sixth_sense("two 4s reverse as well", "state", "values.count(4) & 1 if 4 in values else 0", "4 in values"),
    ),
    (
        "four seats: the lowest card last played takes a reversed trick",
        sixth_sense(
            "of equally low cards the first takes the trick",
            "state",
            "rank >= highest",
            "rank > highest",
        ),
    ),
    (
        "three seats: one, two or three 4s",
        sixth_sense(
            "a reversal turns values around, but not colours",
            "tricks",
            "100 - rank if reverse",
            "75 + rank - 2 * VALUES[index] if reverse",
        ),
    ),
    (
        "two seats, nothing special",
        sixth_sense("trumps take nothing", "tricks", "(2 if colour == trump else 0) * 20", "0"),
    ),
    (
        "three seats: a 6/9 predicts and is played as either",
        sixth_sense(
            "a 6/9 is always a 9",
            "tricks",
            "action.value if action.kind",
            "max(CARDS[action.card or 0].values) if action.kind",
        ),
    ),
    (
        "three seats: a 6/9 predicts and is played as either",
        sixth_sense("a 6/9 predicts 9 only", "score", "min(abs(value", "max(abs(value"),
    ),
    (
        "three seats: who led an 8 may peek, after the taker chose to split",
        sixth_sense("a leader peeks at itself, too", "state", "values[0] == 8 and taker != leader", "values[0] == 8"),
    ),
    (
        "three seats: an heir that is an 8 does not peek",
        sixth_sense("any 8 peeks", "state", "values[0] == 8 and", "8 in values and"),
    ),
    (
        "three seats: who led an 8 may peek, after the taker chose to split",
        sixth_sense(
            "a split trick counts three",
            "state",
            "SPLIT:",
            "SPLIT:\n            self.taken[self._leader] += 1",
        ),
    ),
    (
        "two seats, nothing special",
        sixth_sense(
            "a prediction stays playable", "state", 'self.hands[seat].replace(GONE[action], b"")', "self.hands[seat]"
        ),
    ),
    (
        "two seats, nothing special",
        sixth_sense(
            "the dealer leads", "state", "self._leader = (number + 1) % seats", "self._leader = number % seats"
        ),
    ),
    (
        "four seats, novices: distances of 0 to 5 and more",
        sixth_sense("novices lose one point a trick", "score", "(6, 4, 3, 2, 1)", "(6, 5, 4, 3, 2, 1)"),
    ),
    (
        "four seats, novices",
        sixth_sense("novices have a trump, too", "state", "if not self.setting.novice:", "if self._deck:"),
    ),
    (
        "four seats, the trump turned late",
        sixth_sense(
            "a trump turned late is none", "state", "if not self.setting.novice:", "if self.turned is not None:"
        ),
    ),
    (
        "a target of one point ends the game with the round that reaches it",
        sixth_sense(
            "a target must be passed", "state", "0 < self.setting.target <= max", "0 < self.setting.target < max"
        ),
    ),
    (
        "a target that nobody reaches ends the game after sixty rounds",
        sixth_sense(
            "a target is played for for ever", "state", "self.setting.rounds or LONGEST", "self.setting.rounds or 1000"
        ),
    ),
    (
        "six seats in the last round",
        sixth_sense("six seats play twelve rounds", "game", "5: 5, 6: 6}", "5: 5, 6: 12}"),
    ),
    (
        "a whole deal to five seats, its first choices",
        sixth_sense("five seats hold twelve cards", "game", "5: 13,", "5: 12,"),
    ),
]

BESIDE_THE_ORACLE = [
    nullern("the dealer bids first", "state", "self._leader = (number + 1) % seats", "self._leader = number % seats"),
    nullern("the blind round is open", "state", "_TURN_BLIND if self.blind else _LEAD", "_LEAD"),
    nullern(
        "a blind card is seen by its owner",
        "observer",
        'b"" if state.blind else state.hands[seat]',
        "state.hands[seat]",
    ),
    nullern("the server bids the higher of two as near", "score", "hand_size), bid)", "hand_size), -bid)"),
    nullern("the ninth round has ten cards, too", "state", "8, 9, 10, 9,", "8, 10, 10, 9,"),
    sixth_sense("a block lies open", "observer", "+ index) % seats != seat:", "+ index) % seats < 0:"),
    sixth_sense(
        "all see what one peeks at",
        "observer",
        "if state.leaders[trick] == seat:",
        "if state.leaders:",
    ),
    sixth_sense(
        "a late trump is seen early",
        "state",
        "self.setting.novice or self.setting.late_trump else",
        "self.setting.novice else",
    ),
    sixth_sense(
        "a split is asked of the leader",
        "state",
        "self.player = taker",
        "self.player = leader",
    ),
    sixth_sense("the server splits", "state", "return legal[0]", "return legal[-1]"),
]

ONE_BY_ONE = pytest.mark.parametrize(
    ("case", "mutant"),
    [pytest.param(case, mutant, id=f"{mutant.game}: {mutant.rule}") for case, mutant in IN_THE_FINGERPRINT],
)
BESIDE = pytest.mark.parametrize(
    "mutant", [pytest.param(mutant, id=f"{mutant.game}: {mutant.rule}") for mutant in BESIDE_THE_ORACLE]
)


def unmutated(mutant: Mutant) -> Game:
    """Return the same game, loaded in the same way but without a replaced text."""
    return mutated(mutant._replace(new=mutant.old))


@pytest.fixture(autouse=True)
def _sources() -> None:
    for name in RULES:
        if not source_of(name, "state").is_file():
            pytest.skip("the engine's sources are not beside its compiled modules: nothing to plant a mistake in")


@ONE_BY_ONE
@pytest.mark.thorough
def test_a_wrong_rule_shows_in_the_fingerprint(case: str, mutant: Mutant) -> None:
    written = CASES[mutant.game][case]
    assert count(unmutated(mutant), written) == written.counted
    assert count(mutated(mutant), written) != written.counted


def play_beside_the_oracle(game: Game, games: int) -> None:
    """Play random games of the mutant beside the reference implementation.

    Raises:
        AssertionError: they differ.
    """
    for seed in range(games):
        random = Random(seed)
        seats = random.choice(game.seats)
        decks = SeededDecks(random.randbytes(32))
        if game.name == "nullern":
            agree_on_nullern(game, seats, decks, random.choice)
        else:
            options: dict[str, Option] = {"late_trump": bool(seed % 2)}
            agree_on_sixth_sense(game, seats, decks, options, random.choice, eager=3)


@BESIDE
@pytest.mark.thorough
def test_a_wrong_rule_shows_beside_the_oracle(mutant: Mutant) -> None:
    play_beside_the_oracle(unmutated(mutant), 3)
    with pytest.raises(AssertionError):
        play_beside_the_oracle(mutated(mutant), 3)


def test_a_mutant_leaves_the_real_game_alone() -> None:
    mutant = IN_THE_FINGERPRINT[-1][1]
    assert type(mutated(mutant)) is not type(GAMES[mutant.game])
    assert import_module(f"engine.{mutant.game}").SIXTH_SENSE is GAMES[mutant.game]
