"""The positions of the .perft files, laid out for the engine and for the naive games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from engine.deal import SeededDecks
from engine.game import Game
from engine.nullern import NULLERN
from engine.perft import End, Fingerprint, fingerprint
from engine.sixth_sense import SIXTH_SENSE
from tests.conformance.perft.cases import Case
from tests.oracles import nullern, sixth_sense
from tests.oracles.lines import Plain, all_lines


class Rules(NamedTuple):
    """A game, and the same rules once more."""

    game: Game
    plain: Callable[[Case], Plain]
    smaller: Callable[[Any, int], Any]
    """From a new game: one with hands of this size, where the game's own hands would be too large to count."""


class CaseDecks:
    """The decks of a case."""

    def __init__(self, game: Game, case: Case) -> None:
        cards = {card.name: index for index, card in enumerate(game.cards)}
        dealt = [cards[name] for hand in case.hands for name in hand]
        if case.turned:
            dealt.append(cards[case.turned])
        assert len(set(dealt)) == len(dealt), f"case {case.name!r} deals a card twice"
        self._dealt = [*dealt, *(card for card in range(len(cards)) if card not in dealt)]
        self._round = case.round
        self._shuffled = None if case.shuffle is None else SeededDecks(case.shuffle.to_bytes(32, "big"))

    def __call__(self, number: int, size: int, count: int) -> Sequence[int]:
        if self._shuffled is not None:
            return self._shuffled(number, size, count)
        return self._dealt[:count] if number == self._round else range(count)


def count(game: Game, case: Case) -> Fingerprint:
    """What the engine counts from the position of a case."""
    names = [action.name for action in game.actions]
    state: Any = game.new(case.seats, CaseDecks(game, case), **case.options)
    if case.hands:
        state = RULES[game.name].smaller(state, len(case.hands[0]))
    while state.round < case.round:
        state.apply(min(state.legal(state.player), key=names.__getitem__), state.player)
    for name in case.opening:
        assert names.index(name) in state.legal(state.player), f"case {case.name!r}: {name!r} is not legal"
        state.apply(names.index(name), state.player)
    return fingerprint(state, case.depth)


def count_plainly(rules: Rules, case: Case) -> Fingerprint:
    """What the naive game counts from the position of a case."""
    plain = rules.plain(case)
    while plain.round < case.round:
        seat = plain.waiting()[0]
        plain.act(seat, min(plain.legal(seat)))
    for name in case.opening:
        seat = plain.waiting()[0]
        assert name in plain.legal(seat), f"case {case.name!r}: {name!r} is not legal"
        plain.act(seat, name)
    lengths, ends = all_lines(plain, case.depth)
    return Fingerprint(
        tuple(lengths[length] for length in sorted(lengths)), {End(*end): number for end, number in ends.items()}
    )


def _plain_sixth_sense(case: Case) -> Plain:
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


def _plain_nullern(case: Case) -> Plain:
    decks = CaseDecks(NULLERN, case)
    cards = [nullern.card_named(card.name) for card in NULLERN.cards]
    return nullern.PlainGame(case.seats, [[cards[card] for card in decks(number, 80, 80)] for number in range(20)])


def _sixth_sense_of(state: Any, size: int) -> Any:
    return type(state)(state.setting._replace(hand_size=size))


def _as_it_is(state: Any, size: int) -> Any:
    return state


RULES = {
    rules.game.name: rules
    for rules in (
        Rules(SIXTH_SENSE, _plain_sixth_sense, _sixth_sense_of),
        Rules(NULLERN, _plain_nullern, _as_it_is),
    )
}
