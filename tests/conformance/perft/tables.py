"""The positions of the .perft files, in the engine and in the reference implementations."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from engine.game import Game
from engine.registry import GAMES
from tests.conformance.perft.cases import Case
from tests.conformance.perft.counts import End, Fingerprint, fingerprint
from tests.conformance.perft.deals import CaseDecks, Rules
from tests.oracles.lines import all_lines

RULES: Final[dict[str, Rules]] = {
    name: import_module(f"{__package__}.{name}").RULES for name in GAMES if find_spec(f"{__package__}.{name}")
}
"""`RULES` of each game's module in this folder, by game."""


def count(game: Game, case: Case) -> Fingerprint:
    """Return the engine's counts from the position of a case."""
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
    """Return the reference implementation's counts from the position of a case."""
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
