"""The games as OpenSpiel games: OpenSpiel's own tests, and cases that these omit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, cast

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation
from open_spiel.python.tests import games_sim_test

from engine.adapters.openspiel import Draw, GameProgress, GameSetup, NoTensorError  # this also registers the games
from engine.deal import SeededDecks
from engine.game import OVER, Decks
from engine.registry import GAMES

TABLES = [
    *(f"python_arena_{game.name}(players={seats})" for game in GAMES.values() for seats in game.seats),
    "python_arena_sixth_sense(players=2,novice=True)",
    "python_arena_sixth_sense(players=3,target=5,stop_after=9)",
    "python_arena_sixth_sense(players=6,late_trump=True)",
]
EVERY_TABLE = pytest.mark.parametrize("table", TABLES)


def step(state: Any, random: Random) -> None:
    """Make a random choice or deal a random card."""
    if state.is_chance_node():
        state.apply_action(random.choice(state.chance_outcomes())[0])
    else:
        state.apply_action(random.choice(state.legal_actions()))


@pytest.mark.unmeasured
@EVERY_TABLE
def test_it_passes_the_librarys_random_simulation(table: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(table), num_sims=1, serialize=True, verbose=False)


@EVERY_TABLE
def test_it_passes_the_librarys_test_of_python_games(table: str) -> None:
    games_sim_test.GamesSimTest().sim_game(pyspiel.load_game(table))


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_dealt_the_same_cards_it_is_the_game_of_the_engine(game: Any) -> None:
    seats, random = min(3, game.seats[-1]), Random(3)
    decks = SeededDecks(bytes(32))
    ours = game.new(seats, decks)
    table = pyspiel.load_game(f"python_arena_{game.name}(players={seats})")
    theirs = table.new_initial_state()
    observation = make_observation(table)
    while not theirs.is_terminal():
        if theirs.is_chance_node():
            outcomes = dict(theirs.chance_outcomes())
            assert set(outcomes.values()) == {1 / len(outcomes)}
            observation.set_from(theirs, 0)
            assert not observation.tensor.any(), "nothing shows while cards are dealt"
            deck = iter(decks(ours.round, len(outcomes), len(outcomes)))
            while theirs.is_chance_node():
                card = next(deck)
                assert card in dict(theirs.chance_outcomes())
                assert theirs.action_to_string(card) == f"deal {game.cards[card].name}"
                theirs.apply_action(card)
        seat = ours.player
        assert theirs.current_player() == seat
        assert theirs.legal_actions() == list(ours.legal(seat))
        for watcher in range(seats):
            observation.set_from(theirs, watcher)
            assert observation.tensor.tolist() == np.array(ours.vector(watcher), np.float32).tolist()
            assert observation.string_from(theirs, watcher) == str(ours.view(watcher))
        action = random.choice(ours.legal(seat))
        assert theirs.action_to_string(action) == game.actions[action].name
        ours.apply(action, seat)
        theirs.apply_action(action)
    assert ours.player == OVER
    assert theirs.returns() == list(ours.scores)
    assert not theirs.legal_actions()


@pytest.mark.parametrize("name", [*GAMES])
def test_a_clone_goes_its_own_way_through_deals_of_its_own(name: str) -> None:
    """Compare both copies with states that are built from their histories alone."""
    game = pyspiel.load_game(f"python_arena_{name}(players=2)")
    random = Random(1)
    state = game.new_initial_state()
    for _ in range(150):
        if state.is_terminal():
            state = game.new_initial_state()
        step(state, random)
    clone = state.clone()
    assert clone.history() == state.history()
    while not (state.is_terminal() and clone.is_terminal()):
        for one in (state, clone):
            if not one.is_terminal():
                step(one, random)
    for one in (state, clone):
        again = game.new_initial_state()
        for action in one.history():
            again.apply_action(action)
        assert again.returns() == one.returns()
        assert [again.observation_tensor(seat) for seat in (0, 1)] == [one.observation_tensor(seat) for seat in (0, 1)]
    assert state.history() != clone.history()
    assert len(state.history()) <= game.max_history_length()
    assert state.move_number() <= game.max_move_number()


@pytest.mark.parametrize("name", [*GAMES])
def test_a_state_can_be_pickled_between_and_within_deals(name: str) -> None:
    game = pyspiel.load_game(f"python_arena_{name}(players=2)")
    state, random = game.new_initial_state(), Random(2)
    for number in range(200):
        if number % 20 == 0:
            copy = pickle.loads(pickle.dumps(state))
            assert copy.history() == state.history()
            assert copy.current_player() == state.current_player()
            assert copy.legal_actions() == state.legal_actions()
        if state.is_terminal():
            state = game.new_initial_state()
        step(state, random)


def test_S1_two_seats_are_dealt_no_purple_card() -> None:
    state = pyspiel.load_game("python_arena_sixth_sense(players=2)").new_initial_state()
    assert [card for card, _ in state.chance_outcomes()] == [*range(56)]


def test_the_observation_tells_its_fields_by_name() -> None:
    game = pyspiel.load_game("python_arena_nullern(players=2)")
    state, random = game.new_initial_state(), Random(1)
    while state.is_chance_node():
        step(state, random)
    observation = make_observation(game)
    observation.set_from(state, 1)
    fields = {field.name: field for field in GAMES["nullern"].observation(2)}
    assert {name: values.shape for name, values in observation.dict.items()} == {
        name: field.shape for name, field in fields.items()
    }
    assert observation.dict["hand"].sum() == 1
    assert observation.dict["dealer"].tolist() == [0, 1]


def test_an_observer_of_another_kind_is_refused() -> None:
    game = pyspiel.load_game("python_arena_nullern")
    now = pyspiel.IIGObservationType(perfect_recall=False)
    assert make_observation(game, now)
    assert make_observation(game, pyspiel.IIGObservationType(perfect_recall=True)).tensor is None
    with pytest.raises(Exception, match="takes no parameters"):
        make_observation(game, now, {"colour": "red"})
    for recall in (True, False):
        other = pyspiel.IIGObservationType(perfect_recall=recall, private_info=pyspiel.PrivateInfoType.NONE)
        with pytest.raises(Exception, match="not one without the other"):
            make_observation(game, other)


def test_there_is_no_empty_tensor_of_an_information_state_to_learn_from() -> None:
    game = pyspiel.load_game("python_arena_nullern(players=2)")
    assert not game.get_type().provides_information_state_tensor
    state, random = game.new_initial_state(), Random(1)
    asks: list[Callable[[], object]] = [
        lambda: state.information_state_tensor(0),
        state.information_state_tensor,
        lambda: state.clone().information_state_tensor(1),
        game.information_state_tensor_shape,
        game.information_state_tensor_size,
    ]
    for _ in range(20):
        for ask in asks:
            with pytest.raises(NoTensorError, match="text only: use information_state_string, or observation_tensor"):
                ask()
        step(state, random)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"players": 8}, "for 2 to 6 seats, not 8"),
        ({"target": 5000}, "option target takes 0 to 1000"),
        ({"novice": True, "late_trump": True}, "does not go with novice"),
        ({"stop_after": -1}, "stop_after takes a number of rounds"),
    ],
)
def test_what_the_game_does_not_have_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message):
        pyspiel.load_game("python_arena_sixth_sense", parameters)


class Rolling:
    """A game state that rolls two dice at every choice. The second die has one more face than the first roll shows."""

    def __init__(self, decks: Decks) -> None:
        self.decks, self.faces, self.player = decks, [], 0

    faces: list[int]
    report = None

    def apply(self, action: int, seat: int) -> None:
        for _ in range(2):
            number = len(self.faces)
            self.faces.append(self.decks.roll(0, number, 6 if number % 2 == 0 else self.faces[-1] + 2))

    def clone(self) -> Rolling:
        copy = Rolling(self.decks)
        copy.faces = self.faces[:]
        return copy


class RollingGame:
    """A game with only the methods that this test needs."""

    def new(self, seats: int, decks: Decks) -> Rolling:
        assert list(decks(0, 3, 2)) in ([0, 1], [2, 0])
        return Rolling(decks)


def test_dice_are_rolled_by_chance_one_by_one() -> None:
    progress = GameProgress(GameSetup(cast("Any", RollingGame()), 1, {}))
    for card in (2, 0):
        assert progress.wanted == Draw(0, None, 3, 2)
        progress.decide(card)
    assert progress.wanted is None
    for number, face in ((0, 4), (2, 0)):
        progress.choose(0)
        assert progress.wanted == Draw(0, number, 6, 1)
        progress.decide(face)
        copy = deepcopy(progress)
        assert progress.wanted == copy.wanted == Draw(0, number + 1, face + 2, 1)
        copy.decide(0)
        progress.decide(1)
        assert (cast("Any", copy.state).faces[-1], cast("Any", progress.state).faces[-1]) == (0, 1)
    assert cast("Any", progress.state).faces == [4, 1, 0, 1]
