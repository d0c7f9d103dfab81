"""Two matches on one deal. The comparison finds exactly the differences that the test made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from arena.analysis.same_deal import DealsDiffer, rounds_twice
from arena.match.effects import Ask
from arena.match.inputs import Acted, Begun, Instant, Interrupted
from arena.replay.header import Entry
from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.replay import Replay
from engine.game import Game
from engine.registry import GAMES
from tests.games import nearest_seats
from tests.replay.recorded import header_of


def played(
    game: Game, choose: Callable[[int, Ask], int], *, backwards: bool = False, chance: int = 1, until: int | None = None
) -> Replay:
    """Play a match that calls `choose` with the round. With `backwards`, the last seat answers first in simultaneous
    choices.
    """
    header = header_of(game, nearest_seats(game.seats, 3), {}, chance)
    match, now = header.new_match(), Instant(0)
    entries: list[Entry] = [(begun := Begun(now), match.receive(begun))]
    rounds = 0
    while not match.over:
        if until is not None and len(entries) > until:
            entries.append((end := Interrupted(now, "enough"), match.receive(end)))
            break
        open_now = [
            each
            for _, effects in entries
            for each in effects
            if isinstance(each, Ask) and match.open_decision(each.seat) == each.decision
        ]
        rounds = sum(type(each).__name__ == "Show" for _, effects in entries for each in effects)
        ask = open_now[-1 if backwards else 0]
        acted = Acted(now, ask.seat, ask.decision, choose(rounds, ask))
        entries.append((acted, match.receive(acted)))
    return read(encode(header, entries, None))


def first(_: int, ask: Ask) -> int:
    return ask.legal[0]


def by_chance(seed: int) -> Callable[[int, Ask], int]:
    rng = Random(seed)
    return lambda _, ask: rng.choice(list(ask.legal))


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_the_same_choices_are_the_same_in_whatever_order_they_came(game: Game) -> None:
    one, other = played(game, first), played(game, first, backwards=True)
    rounds = rounds_twice(one, other)
    assert not any(each.otherwise for each in rounds)
    assert [each.one for each in rounds] == [each.other for each in rounds]
    assert sum(each.alike for each in rounds) == sum(isinstance(each, Acted) for each in one.inputs)


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_one_choice_that_differs_is_the_one_that_is_named(game: Game) -> None:
    changed: list[tuple[int, int, int, int]] = []

    def otherwise(number: int, ask: Ask) -> int:
        if number == 2 and not changed and len(ask.legal) > 1 and ask.seat == 1:
            changed.append((number, ask.seat, ask.legal[0], ask.legal[-1]))
            return ask.legal[-1]
        return ask.legal[0]

    rounds = rounds_twice(played(game, first), played(game, otherwise))
    named = [
        (each.round, apart.seat, apart.one.action, apart.other.action) for each in rounds for apart in each.otherwise
    ]
    assert named == changed
    assert [each.round for each in rounds] == [*range(len(rounds))]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_each_round_begins_alike_again(game: Game) -> None:
    """Rounds of random play differ, but both rounds are equal before the first difference."""
    one, other = played(game, by_chance(1)), played(game, by_chance(2))
    rounds = rounds_twice(one, other)
    assert len(rounds) > 3
    assert all(each.otherwise for each in rounds)
    for each in rounds:
        for apart in each.otherwise:
            assert apart.one.seat == apart.other.seat == apart.seat
            assert apart.one.action != apart.other.action
    reports: Sequence[object] = [each.one for each in rounds]
    assert len({*reports}) == len(rounds)


def test_a_match_that_was_interrupted_is_compared_as_far_as_it_goes() -> None:
    whole, half = played(GAMES["nullern"], first), played(GAMES["nullern"], first, until=40)
    rounds = rounds_twice(whole, half)
    assert rounds[-1].one is not None
    assert rounds[-1].other is None
    assert not any(each.otherwise for each in rounds)
    assert sum(each.alike for each in rounds) == sum(isinstance(each, Acted) for each in half.inputs)


def test_other_deals_are_refused_with_what_differs() -> None:
    nullern, sixth = GAMES["nullern"], GAMES["sixth_sense"]
    with pytest.raises(DealsDiffer, match="the game differs: nullern and sixth_sense"):
        rounds_twice(played(nullern, first), played(sixth, first))
    with pytest.raises(DealsDiffer, match="the cards differ"):
        rounds_twice(played(nullern, first), played(nullern, first, chance=2))
