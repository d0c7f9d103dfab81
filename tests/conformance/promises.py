"""The promises of every game's engine: plain functions that raise AssertionError if a game breaks a promise.

The tests apply them to every registered game. They also apply them to a made-up game, to prove that they detect faults.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from functools import partial
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from engine.deal import SeededDecks
from engine.game import LARGEST_DIE, OVER, Game, OptionError, State, settle_options
from engine.observation import Field
from tests.conformance.table import Table, tables

MOST_CHOICES: Final = 50_000
"""Number of choices above which a game counts as endless."""


class Listening:
    """Decks that record each request for a card."""

    def __init__(self) -> None:
        self._decks = SeededDecks(bytes(32))
        self.rounds: list[int] = []
        self.dealt: list[tuple[int, int]] = []
        self.rolled: list[int] = []

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        self.rounds.append(round)
        self.dealt.append((size, count))
        return tuple(self._decks(round, size, count))

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        self.rounds.append(round)
        self.rolled.append(faces)
        return self._decks.roll(round, number, faces)


# --- promises of the game ---


def it_says_what_it_is(game: Game) -> None:
    assert game.name.isidentifier()
    assert game.name == game.name.lower()
    assert game.title
    assert game.seats.step == 1
    assert 1 <= game.seats.start < game.seats.stop
    assert len(set(game.colours)) == len(game.colours)


def every_card_and_action_has_a_name_that_leads_back_to_it(game: Game) -> None:
    for names in ([card.name for card in game.cards], [action.name for action in game.actions]):
        index = {name: number for number, name in enumerate(names)}
        assert [index[name] for name in names] == list(range(len(names))), "two go by one name"
        assert all(name.strip() == name != "" for name in names)
    assert len(game.actions) <= 256, "a history is bytes"
    for card in game.cards:
        assert game.colours[card.colour] in card.name
        assert card.values
    for action in game.actions:
        assert action.kind
        assert action.card is None or 0 <= action.card < len(game.cards)
        assert action.place is None or action.place >= 0


def seats_and_options_it_does_not_have_are_refused(game: Game) -> None:
    decks = SeededDecks(bytes(32))
    bad_seats: tuple[Any, ...] = (game.seats.start - 1, game.seats.stop, True, 3.0)
    for seats in bad_seats:
        with pytest.raises(OptionError, match=f"{game.title} is for {game.seats.start} to"):
            game.new(seats, decks)
    with pytest.raises(OptionError, match="has no option 'no_such_option'"):
        game.new(game.seats.start, decks, no_such_option=1)
    for spec in game.options:
        wrong: tuple[Any, ...] = ("much", None, 1 if isinstance(spec.default, bool) else True)
        for value in wrong:
            with pytest.raises(OptionError, match=f"option {spec.name} takes"):
                game.new(game.seats.start, decks, **{spec.name: value})


def every_option_is_described_has_a_default_and_is_played(game: Game) -> None:
    assert settle_options(game, game.seats.start, {}) == {spec.name: spec.default for spec in game.options}
    played = tables(game)
    assert {table.seats for table in played} == set(game.seats)
    for spec in game.options:
        assert spec.description
        assert len({table.options[spec.name] for table in played}) == 2, f"{spec.name} is always refused"


# --- promises of a game in progress ---


def a_game_ends_and_is_sound_all_the_way(table: Table) -> None:
    rng = Random(str(table))
    rounds: list[Any] = []
    for choices, state in enumerate(table.walk(1, rng)):
        _is_sound(table, state)
        report = state.report
        if report is not None and report.round == len(rounds):
            rounds.append(report)
        assert len(rounds) == (report.round + 1 if report else 0), "a round was reported twice, or never"
        assert tuple(state.scores) == (report.scores if report else (0,) * table.seats)
        assert state.round == len(rounds) - (state.player == OVER)
        assert choices < MOST_CHOICES, "it never ends"
    assert state.waiting() == ()
    assert all(len(each.points) == len(each.scores) == table.seats for each in rounds)


def _is_sound(table: Table, state: State[Any, Any]) -> None:
    waiting = state.waiting()
    assert list(waiting) == sorted(set(waiting))
    assert state.player == (waiting[0] if waiting else OVER)
    assert all(0 <= seat < table.seats for seat in waiting)
    for seat in waiting:
        legal = list(state.legal(seat))
        assert legal
        assert legal == sorted(set(legal))
        assert 0 <= legal[0] <= legal[-1] < len(table.game.actions)
        assert state.fallback(seat) in legal
    for seat in range(table.seats):
        assert state.view(seat).seat == seat
    scores = state.scores
    assert state.ranking() == tuple(1 + sum(other > score for other in scores) for score in scores)


def every_legal_action_can_be_made(table: Table) -> None:
    """Every legal action leads to a valid state. All actions are tried in a tenth of the positions."""
    rng = Random(str(table))
    for state in table.walk(16, rng):
        if state.player == OVER or rng.random() > 0.1:
            continue
        for seat in state.waiting():
            for action in state.legal(seat):
                after = state.clone()
                after.apply(action, seat)
                _is_sound(table, after)


def the_server_alone_can_play_it_to_its_end(table: Table) -> None:
    state, again = table.new(), table.new()
    for _ in range(MOST_CHOICES):
        if state.player == OVER:
            break
        seat = state.player
        action = state.fallback(seat)
        assert again.fallback(seat) == action
        state.apply(action, seat)
        again.apply(action, seat)
    assert state.player == OVER
    assert table.facts(state) == table.facts(again)


def the_list_of_its_actions_is_the_game(table: Table) -> None:
    """Determinism: the same actions lead to the same facts in a new state, whether or not facts are read in between."""
    rng = Random(str(table))
    state = table.new(2)
    history, course = [], [table.facts(state)]
    while state.player != OVER:
        history.append(table.step(state, rng))
        course.append(table.facts(state))
    looked_at, left_alone = table.new(2), table.new(2)
    assert table.facts(looked_at) == course[0]
    for (action, seat), expected in zip(history, course[1:], strict=True):
        looked_at.apply(action, seat)
        left_alone.apply(action, seat)
        assert table.facts(looked_at) == expected
    assert table.facts(left_alone) == course[-1]


def other_decks_give_another_game(table: Table) -> None:
    assert any(table.facts(table.new(seed)) != table.facts(table.new()) for seed in range(1, 6))


def a_clone_goes_its_own_way(table: Table) -> None:
    rng = Random(str(table))
    for state in table.walk(3, rng):
        if state.player == OVER or rng.random() > 0.05:
            continue
        before = table.facts(state)
        clone = state.clone()
        assert table.facts(clone) == before
        for _ in range(rng.randrange(1, 60)):
            if clone.player != OVER:
                table.step(clone, rng)
        assert table.facts(state) == before, "what happens to the clone happens to the original"
        kept = state.clone()
        other = kept.clone()
        table.step(kept, rng)
        assert table.facts(other) == before, "what happens to the original happens to the clone"


def _pickled(protocol: int, state: State[Any, Any]) -> State[Any, Any]:
    again: State[Any, Any] = pickle.loads(pickle.dumps(state, protocol))
    return again


COPIES: Final[dict[str, Callable[[State[Any, Any]], State[Any, Any]]]] = {
    "copy": copy,
    "deepcopy": deepcopy,
    **{f"pickle {number}": partial(_pickled, number) for number in range(2, pickle.HIGHEST_PROTOCOL + 1)},
}
"""Ways to copy a state without knowledge of the game."""


def a_copy_plays_on_as_the_game_does(table: Table) -> None:
    """Changes to a copy do not affect the original, for every way of copying and for copies of sampled games."""
    rng = Random(str(table))
    for state in table.walk(5, rng):
        if state.player != OVER and rng.random() > 0.01:
            continue
        for game in (state, *([table.game.sample(state.view(state.player), rng)] if state.player != OVER else [])):
            before, played = table.facts(game), game.clone()
            _play_on(table, played)
            after = table.facts(played)
            for way, copied in COPIES.items():
                again = copied(game)
                assert type(again) is type(game)
                assert table.facts(again) == before, f"not the same after {way}"
                _play_on(table, again)
                assert table.facts(again) == after, f"it goes on otherwise after {way}"
                assert table.facts(game) == before, f"what happens to a copy by {way} happens to the original"


def _play_on(table: Table, state: State[Any, Any]) -> None:
    """Play some rounds: equal positions lead to equal play. Now and then a seat reads its vector."""
    chance = Random(1)
    for _ in range(200):
        if state.player == OVER:
            break
        _, seat = table.step(state, chance)
        if chance.random() < 0.01:
            state.vector_into(seat, array("f", state.vector(seat)))


NUMPYS: Final = (np.int64, np.int32, np.uint8)


def it_takes_numpys_numbers_and_gives_none(table: Table) -> None:
    rng = Random(str(table))
    state, same = table.new(6), table.new(6)
    length = sum(field.size for field in table.game.observation(table.seats))
    while state.player != OVER:
        kind = rng.choice(NUMPYS)
        seat = rng.choice(state.waiting())
        asked = kind(seat)
        assert repr(list(same.legal(asked))) == repr(list(state.legal(seat)))
        assert repr(same.fallback(asked)) == repr(state.fallback(seat))
        assert repr(same.view(asked)) == repr(state.view(seat)), "a view has a number of numpy's"
        assert same.vector(asked) == state.vector(seat)
        numbers = np.zeros((2, length), np.float32)
        same.vector_into(asked, numbers[0])
        state.vector_into(seat, numbers[1])
        assert (numbers[0] == numbers[1]).all()
        action = table.choose(state, seat, rng)
        state.apply(action, seat)
        same.apply(kind(action), asked)
        assert repr(table.facts(same)) == repr(table.facts(state)), "the state has a number of numpy's"


def choices_made_at_once_may_come_in_any_order(table: Table) -> None:
    """No seat sees another seat's simultaneous choice before all have chosen."""
    rng = Random(str(table))
    for state in table.walk(4, rng):
        waiting = state.waiting()
        if len(waiting) < 2:
            continue
        choices = [(table.choose(state, seat, rng), seat) for seat in waiting]
        one, other = state.clone(), state.clone()
        for action, seat in choices:
            one.apply(action, seat)
        rng.shuffle(choices)
        for number, (action, seat) in enumerate(choices, 1):
            others = [watcher for watcher in range(table.seats) if watcher != seat]
            views = [other.view(watcher) for watcher in others]
            other.apply(action, seat)
            assert number == len(choices) or views == [other.view(watcher) for watcher in others], (
                f"a choice of seat {seat} shows before all are in"
            )
        assert table.facts(one) == table.facts(other)


def it_asks_for_decks_it_can_be_given(table: Table) -> None:
    decks = Listening()
    state = table.game.new(table.seats, decks, **table.options)
    while state.player != OVER:
        state.apply(state.fallback(state.player), state.player)
    assert decks.rounds == sorted(decks.rounds)
    assert set(decks.rounds) == set(range(state.round + 1))
    assert all(0 < count <= size <= len(table.game.cards) for size, count in decks.dealt)
    assert all(1 < faces <= LARGEST_DIE for faces in decks.rolled)


def a_vector_is_what_its_fields_say(table: Table) -> None:
    described = table.game.observation(table.seats)
    length = 0
    for field in described:
        assert field.offset == length, f"{field.name} does not follow on the field before it"
        assert field.meaning
        length += field.size
    assert len({field.name for field in described}) == len(described)
    rng = Random(str(table))
    for number, state in enumerate(table.walk(14, rng)):
        if number % 5:
            continue
        seat = rng.randrange(table.seats)
        vector = state.vector(seat)
        assert len(vector) == length
        _both_arrays_say_it(state, seat, described, vector)
        for field in described:
            numbers = vector[field.offset : field.offset + field.size]
            assert field.low <= min(numbers) <= max(numbers) <= field.high, f"{field.name} leaves its bounds"


def _both_arrays_say_it(state: State[Any, Any], seat: int, fields: Sequence[Field], vector: list[float]) -> None:
    """Check that a float32 array has the same numbers, and a byte array the same within one step, except where a byte
    clips a number.
    """
    floats, steps = array("f", [7] * len(vector)), bytearray([7] * len(vector))
    state.vector_into(seat, floats)
    state.vector_into(seat, steps)
    assert floats == array("f", vector), "not what `vector` says"
    for field in fields:
        for place in range(field.offset, field.offset + field.size):
            step = steps[place]
            off = vector[place] - (step - field.zero) * field.unit
            cut = (step == 0 and off < 0) or (step == 255 and off > 0)
            assert cut or abs(off) < field.unit, f"{field.name} is not what its byte says"


def no_game_is_longer_and_no_score_goes_further_than_it_says(table: Table) -> None:
    longest = table.game.longest(table.seats, **table.options)
    points = table.game.points(table.seats, **table.options)
    for choices, state in enumerate(table.walk(15, Random(str(table)))):
        assert choices <= longest
        assert all(score in points for score in state.scores)
    for told in (table.game.longest, table.game.points):
        with pytest.raises(OptionError):
            told(table.game.seats.stop, **table.options)


OF_A_GAME: Final[tuple[Callable[[Game], None], ...]] = (
    it_says_what_it_is,
    every_card_and_action_has_a_name_that_leads_back_to_it,
    seats_and_options_it_does_not_have_are_refused,
    every_option_is_described_has_a_default_and_is_played,
)
OF_A_TABLE: Final[tuple[Callable[[Table], None], ...]] = (
    a_game_ends_and_is_sound_all_the_way,
    every_legal_action_can_be_made,
    the_server_alone_can_play_it_to_its_end,
    the_list_of_its_actions_is_the_game,
    other_decks_give_another_game,
    a_clone_goes_its_own_way,
    a_copy_plays_on_as_the_game_does,
    it_takes_numpys_numbers_and_gives_none,
    choices_made_at_once_may_come_in_any_order,
    it_asks_for_decks_it_can_be_given,
    a_vector_is_what_its_fields_say,
    no_game_is_longer_and_no_score_goes_further_than_it_says,
)
