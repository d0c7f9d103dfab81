"""Checks of a game's secrecy: facts that a seat cannot know do not change anything that it sees.

They are plain functions over a game's tables. The compared worlds come from the game's own `sample`. The games' tests
in tests/engine redeal the hidden cards without `sample`, so that one mistake cannot hide another.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from engine.constrained_deal import Redealt
from engine.game import OVER, State, ViewError
from tests.conformance.table import Table

PLAIN: Final = (int, bool, str, bytes, type(None))
MOST_WORLDS: Final = 40
"""Maximum number of positions compared per table and seed, drawn from the whole game."""


class NoView(NamedTuple):
    """A view type that no game has."""

    seat: int


def worlds(table: Table, seed: int) -> Iterator[tuple[State[Any, Any], State[Any, Any], int]]:
    """Yield positions of a random game, each with a seat and another true state that the seat's view allows."""
    rng = Random(f"{table} {seed}")
    positions = [state.clone() for state in table.walk(seed, rng) if state.player != OVER]
    for state in rng.sample(positions, min(MOST_WORLDS, len(positions))):
        for seat in {rng.choice(state.waiting()), rng.randrange(table.seats)}:
            yield state, table.game.sample(state.view(seat), rng), seat


def two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart(table: Table) -> None:
    """View, vector, legal actions and the default choice are equal. A sampled view can be sampled again."""
    differ = 0
    for state, other, seat in worlds(table, 5):
        assert other.view(seat) == state.view(seat)
        assert other.vector(seat) == state.vector(seat)
        if seat in state.waiting():
            assert seat in other.waiting(), "a view tells its seat that it is asked"
            assert list(other.legal(seat)) == list(state.legal(seat)), "what a seat may do tells it a secret"
            assert other.fallback(seat) == state.fallback(seat), "what the server plays tells a secret"
        differ += any(other.view(watcher) != state.view(watcher) for watcher in range(table.seats))
    assert differ, "the worlds never differ: this proves nothing"


def a_sampled_world_is_a_game_like_any_other(table: Table) -> None:
    rng = Random(str(table))
    positions = [state.clone() for state in table.walk(7, rng) if state.player != OVER]
    for state in rng.sample(positions, min(6, len(positions))):
        seat = rng.randrange(table.seats)
        view = state.view(seat)
        before = table.facts(state)
        one, same = (table.game.sample(view, Random(7)) for _ in range(2))
        assert table.facts(one) == table.facts(same), "the same chance gives the same world"
        assert one.round == state.round
        assert tuple(one.scores) == tuple(state.scores)
        assert one.report is None, "earlier rounds are forgotten"
        while one.player != OVER:
            owing = one.waiting()
            assert all(one.fallback(each) in list(one.legal(each)) for each in owing)
            table.step(one, rng)
        assert one.ranking()
        assert table.facts(state) == before


def many_sampled_worlds_are_games_like_any_other(table: Table) -> None:
    """Play each world to its end, so that later rounds are dealt, too."""
    rng = Random(str(table))
    positions = [state.clone() for state in table.walk(12, rng) if state.player != OVER]
    differ = 0
    for state in rng.sample(positions, min(8, len(positions))):
        seat = rng.choice(state.waiting())
        view = state.view(seat)
        many = table.game.sample_many(view, Random(5), 6)
        same = table.game.sample_many(view, Random(5), 6)
        assert [table.facts(world) for world in many] == [table.facts(world) for world in same], "the same chance"
        differ += len({str(table.facts(world)) for world in many}) > 1
        assert len(many) == 6
        for world in many:
            assert world.view(seat) == view
            assert world.vector(seat) == state.vector(seat)
            assert seat in world.waiting()
            assert [*world.legal(seat)] == [*state.legal(seat)]
            assert world.report is None, "earlier rounds are forgotten"
        others = [table.facts(world) for world in many[1:]]
        while many[0].player != OVER:
            table.step(many[0], rng)
        assert [table.facts(world) for world in many[1:]] == others, "one world moved the others"
        for world, again in zip(many[1:], same[1:], strict=True):
            for choice in range(60):
                if world.player == OVER:
                    break
                table.step(world, Random(choice))
                table.step(again, Random(choice))
            assert table.facts(world) == table.facts(again)
        assert table.game.sample_many(view, Random(5), 0) == []
    assert differ, "the worlds never differ: this proves nothing"
    with pytest.raises(ViewError):
        table.game.sample_many(NoView(0), Random(1), 3)


def a_sampled_truth_is_dealt_and_played_to_the_view(table: Table) -> None:
    """Compare only the first round, with which a new game begins. With the same randomness `sample` plays the same
    game.
    """
    rng = Random(str(table))
    positions = [state.clone() for state in table.walk(11, rng) if state.round == 0 and state.player != OVER]
    for state in rng.sample(positions, min(12, len(positions))):
        for seat in range(table.seats):
            view = state.view(seat)
            deck, choices = table.game.truth(view, Random(3))
            again = table.game.new(table.seats, Redealt(0, deck, rng), **table.options)
            for chooser, action in choices:
                assert chooser in again.waiting()
                assert action in [*again.legal(chooser)]
                again.apply(action, chooser)
            assert again.view(seat) == view
            sampled = table.game.sample(view, Random(3))
            assert [again.view(other) for other in range(table.seats)] == [
                sampled.view(other) for other in range(table.seats)
            ]


def a_view_of_no_game_in_progress_is_refused(table: Table) -> None:
    *_, over = table.walk(9, Random(str(table)))
    for look in (table.game.sample, table.game.truth):
        with pytest.raises(ViewError):
            look(NoView(0), Random(1))
    for seat in range(table.seats):
        view = over.view(seat)
        try:
            world = table.game.sample(view, Random(1))
        except ViewError:
            continue
        # at the end, the seat's view may allow that another seat's last choice is still due
        assert world.player != OVER
        assert world.view(seat) == view


def nothing_secret_is_reachable_from_a_view_or_report(table: Table) -> None:
    state = table.new()
    kinds: list[type] = [type(state.view(0))]
    while state.report is None:
        state.apply(state.fallback(state.player), state.player)
    kinds.append(type(state.report))
    for kind in kinds:
        reached = _unplain(kind, set())
        assert not reached, f"{kind.__name__} leads to {', '.join(sorted(map(str, reached)))}: only plain values may"


def _unplain(hint: Any, seen: set[Any]) -> set[Any]:
    """Return the types within a type hint that are not plain values."""
    if hint in PLAIN or hint in seen or hint is Ellipsis:
        return set()
    seen.add(hint)
    inner: list[Any]
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) in (tuple, typing.Union):
        inner = list(typing.get_args(hint))
    elif isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        inner = list(typing.get_type_hints(hint).values())
    else:
        return {hint}
    return {found for part in inner for found in _unplain(part, seen)}


def a_view_holds_plain_values_and_stays_what_it_was(table: Table) -> None:
    rng = Random(str(table))
    shown: list[tuple[Any, str]] = []
    for state in table.walk(8, rng):
        for each in [state.view(rng.randrange(table.seats)), *([state.report] if state.report else [])]:
            shown.append((each, str(each)))
            for name, value in each._asdict().items():
                assert _is_plain(value), f"{type(each).__name__}.{name}"
    assert all(str(each) == text for each, text in shown), "a view changed when the game went on"
    view = shown[0][0]
    for name in ("seat", "something_else"):
        with pytest.raises(AttributeError):
            object.__setattr__(view, name, 1)


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if isinstance(value, tuple) else type(value) in PLAIN


def a_state_does_not_print_its_secrets(table: Table) -> None:
    assert repr(table.new(1)) == repr(table.new(2)), "the text of a state depends on its cards"


OF_A_TABLE: Final[tuple[Callable[[Table], None], ...]] = (
    two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart,
    a_sampled_world_is_a_game_like_any_other,
    many_sampled_worlds_are_games_like_any_other,
    a_sampled_truth_is_dealt_and_played_to_the_view,
    a_view_of_no_game_in_progress_is_refused,
    nothing_secret_is_reachable_from_a_view_or_report,
    a_view_holds_plain_values_and_stays_what_it_was,
    a_state_does_not_print_its_secrets,
)
