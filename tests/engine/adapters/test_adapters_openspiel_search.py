"""Information states and sampled worlds of the OpenSpiel games, and the library's algorithms that use them."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import external_sampling_mccfr, ismcts, mcts, outcome_sampling_mccfr

import engine.adapters.openspiel  # noqa: F401 - registers the games
from engine.adapters.openspiel_limits import CompiledSearchError
from engine.registry import GAMES

TABLES = [
    *(f"python_arena_{game.name}(players={min(3, game.seats[-1])})" for game in GAMES.values()),
    "python_arena_sixth_sense(players=2,late_trump=True)",
    "python_arena_sixth_sense(players=6,novice=True)",
    "python_arena_nullern(players=2)",
]
EVERY_TABLE = pytest.mark.parametrize("table", TABLES)
SMALLEST = "python_arena_nullern(players=2,stop_after=2)"
"""A game of two rounds: the first with one card each, the second with two."""
NUMBER = re.compile(r"\d+")


def decisions(table: str, seed: int) -> Iterator[Any]:
    """Yield the states of a random game before each player choice."""
    random = Random(seed)
    state = pyspiel.load_game(table).new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(random.choice(state.legal_actions()))
            continue
        yield state
        state.apply_action(random.choice(state.legal_actions()))


@EVERY_TABLE
def test_a_player_never_forgets(table: str) -> None:
    """Perfect recall: a player's information state determines all its choices and all that it knew in earlier
    rounds.
    """
    knew: dict[int, str] = {}
    made: dict[int, list[int]] = {}
    random = Random(2)
    state = pyspiel.load_game(table).new_initial_state()
    while not state.is_terminal():
        action, player = random.choice(state.legal_actions()), state.current_player()
        if player >= 0:
            now, before = state.information_state_string(), knew.get(player, "")
            chosen = [
                int(number) for told in re.findall(r"; chose \(([^)]*)\)", now) for number in NUMBER.findall(told)
            ]
            assert chosen == made.setdefault(player, [])
            assert now.startswith(before[: before.rfind("\n") + 1])
            assert now != before
            knew[player] = now
            made[player].append(action)
        state.apply_action(action)


def test_a_peek_of_an_earlier_round_is_remembered() -> None:
    """The report of a round does not show who peeked, but views before the round's end do."""
    for state in decisions("python_arena_sixth_sense(players=4)", 5):
        known = [line for line in state.information_state_string().splitlines() if "SixthSenseRound" in line]
        if any("peeks=b'" in line and "\\x01" in line.split("peeks=")[1].split(", taken")[0] for line in known):
            return
    pytest.fail("nobody ever peeked")


@EVERY_TABLE
def test_a_sampled_world_is_one_that_the_player_could_be_in(table: str) -> None:
    differ = 0
    for number, state in enumerate(decisions(table, 7)):
        if number % 7:
            continue
        player = state.current_player()
        world = state.resample_from_infostate(player, pyspiel.UniformProbabilitySampler(0.0, 1.0))
        assert world.current_player() == player
        assert world.information_state_string() == state.information_state_string()
        assert world.observation_tensor() == state.observation_tensor()
        assert world.legal_actions() == state.legal_actions()
        again = state.get_game().new_initial_state()
        for action in world.history():
            assert action in again.legal_actions()
            again.apply_action(action)
        assert again.information_state_string(player) == world.information_state_string(player)
        differ += world.history() != state.history()
    assert differ > 1


@EVERY_TABLE
def test_the_truth_has_no_part_in_what_is_sampled(table: str) -> None:
    for number, state in enumerate(decisions(table, 8)):
        if number % 29:
            continue
        player = state.current_player()
        other = state.resample_from_infostate(player, lambda: 0.25)
        assert other.resample_from_infostate(player, lambda: 0.75).history() == (
            state.resample_from_infostate(player, lambda: 0.75).history()
        )


def test_there_is_nothing_to_sample_where_nobody_chooses() -> None:
    state = pyspiel.load_game(SMALLEST).new_initial_state()
    with pytest.raises(ValueError, match="while nobody is to choose"):
        state.resample_from_infostate(0, lambda: 0.5)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="for player 2 here: players are 0 to 1"):
        state.resample_from_infostate(2, lambda: 0.5)


def test_a_game_stops_after_the_rounds_asked_for() -> None:
    whole = pyspiel.load_game("python_arena_nullern(players=2)")
    state, random = pyspiel.load_game(SMALLEST).new_initial_state(), Random(4)
    longer = whole.new_initial_state()
    while not state.is_terminal():
        action = random.choice(state.legal_actions())
        state.apply_action(action)
        longer.apply_action(action)
    assert longer.is_chance_node()
    assert len(state.history()) == (3 + 4) + (5 + 6)
    assert state.observation_string(0) == "the game was stopped"
    assert not any(state.observation_tensor(0))
    reports = [line for line in state.information_state_string(0).splitlines() if "NullernRound" in line]
    assert len(reports) == 2
    assert f"scores=({', '.join(str(int(score)) for score in state.returns())})" in reports[-1]
    assert state.legal_actions() == []


@pytest.mark.parametrize("table", [SMALLEST, "python_arena_sixth_sense(players=2,stop_after=1)"])
def test_ismcts_of_the_library_searches(table: str) -> None:
    """The library checks that every sampled world has the information state of the search."""
    game = pyspiel.load_game(table)
    states = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, states), 20.0, 12, random_state=states)
    asked = 0
    for state in decisions(table, 3):
        if len(state.legal_actions()) > 1 and asked < 6:
            asked += 1
            assert bot.step(state) in state.legal_actions()
    assert asked > 2


def test_ismcts_takes_a_trick_that_is_its_own() -> None:
    """With one card each, the player with the highest trump bids one if it bids last."""
    game = pyspiel.load_game("python_arena_nullern(players=2,stop_after=1)")
    state = game.new_initial_state()
    for card in (19, 45, 18, 81):  # the cards of both players, the trump card, and seat 1's bid of 0
        state.apply_action(card)
    states = np.random.RandomState(2)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, states), 10.0, 60, random_state=states)
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["bid 0", "bid 1"]
    assert state.action_to_string(bot.step(state)) == "bid 1"


@pytest.mark.parametrize(
    "solver", [outcome_sampling_mccfr.OutcomeSamplingSolver, external_sampling_mccfr.ExternalSamplingSolver]
)
def test_counterfactual_regret_by_sampling_runs(solver: Any) -> None:
    np.random.seed(5)
    game = pyspiel.load_game(SMALLEST)
    solving = solver(game)
    for _ in range(15):
        solving.iteration()
    assert len(solving._infostates) > 100
    policy = solving.average_policy()
    asked = 0
    for state in decisions(SMALLEST, 6):
        chances = policy.action_probabilities(state)
        assert list(chances) == state.legal_actions()
        assert sum(chances.values()) == pytest.approx(1)
        asked += 1
    assert asked == 4 + 6


def test_a_search_in_cpp_is_refused_with_what_to_do() -> None:
    state = next(decisions(SMALLEST, 1))
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    hidden = pyspiel.ISMCTSBot(1, evaluator, 2.0, 10)
    for call in (hidden.step, hidden.get_policy, hidden.step_with_policy):
        with pytest.raises(CompiledSearchError, match=r"python\.algorithms \(ismcts\.ISMCTSBot\)"):
            call(state)
    with pytest.raises(CompiledSearchError, match=r"python\.algorithms \(mcts\.MCTSBot\)"):
        pyspiel.MCTSBot(state.get_game(), evaluator, 2.0, 10, 10, False, 1, False).step(state)
    poker = pyspiel.load_game("kuhn_poker").new_initial_state()
    for card in (0, 1):
        poker.apply_action(card)
    assert hidden.step(poker) in poker.legal_actions()


@pytest.mark.process
def test_the_library_still_dies_of_a_search_in_cpp() -> None:
    """If this fails, the library is fixed, and `openspiel_limits` can be deleted."""
    program = """
import pyspiel, open_spiel.python.games
state = pyspiel.load_game("python_kuhn_poker").new_initial_state()
for card in (0, 1):
    state.apply_action(card)
pyspiel.ISMCTSBot(1, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 10).step(state)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == -signal.SIGSEGV
