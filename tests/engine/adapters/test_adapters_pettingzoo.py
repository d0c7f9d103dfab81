"""The games as PettingZoo environments: PettingZoo's own tests, and cases that these omit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from engine.adapters.pettingzoo import ILLEGAL_REWARD, GameEnv, env
from engine.game import OptionError
from engine.registry import GAMES

EVERY_TABLE = pytest.mark.parametrize(
    ("game", "seats"), [(game.name, seats) for game in GAMES.values() for seats in game.seats]
)
ASKED_FOR = pytest.mark.filterwarnings(
    # the library recommends a dictionary with a mask, but accepts it only from environments in its own list
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
)


def play(environment: Any, seed: int) -> dict[str, float]:
    """Play a game with the first legal actions. Return the sum of each agent's rewards."""
    environment.reset(seed=seed)
    rewards = dict.fromkeys(environment.possible_agents, 0.0)
    for agent in environment.agent_iter():
        observation, reward, terminated, _, _ = environment.last()
        rewards[agent] += reward
        environment.step(None if terminated else int(np.argmax(observation["action_mask"])))
    return rewards


@ASKED_FOR
@EVERY_TABLE
def test_it_passes_the_api_test(game: str, seats: int) -> None:
    api_test(env(game, seats), num_cycles=300)


@EVERY_TABLE
def test_it_passes_the_seed_test(game: str, seats: int) -> None:
    seed_test(partial(env, game, seats), num_cycles=100)


@EVERY_TABLE
def test_rewards_add_up_to_the_scores(game: str, seats: int) -> None:
    environment = GameEnv(game, seats)
    rewards = play(environment, 7)
    assert list(rewards.values()) == list(environment._state.scores)
    assert any(rewards.values())


def test_a_seed_decides_the_deal_and_its_sequel() -> None:
    environment, other = GameEnv(), GameEnv()
    first = play(environment, 1), play(environment, 2)
    assert first == (play(other, 1), play(other, 2))
    environment.reset(seed=3)
    environment.reset()
    other.reset(seed=3)
    other.reset()
    assert environment.observe("player_0")["observation"].tolist() == other.observe("player_0")["observation"].tolist()
    other.reset()
    assert environment.observe("player_0")["observation"].tolist() != other.observe("player_0")["observation"].tolist()


def test_S4_a_prediction_shows_to_no_other_agent_before_all_are_made() -> None:
    environment = GameEnv("sixth_sense", 3)
    environment.reset(seed=1)
    before = [environment.observe(f"player_{seat}") for seat in (1, 2)]
    assert environment.agent_selection == "player_0"
    environment.step(int(np.argmax(environment.observe("player_0")["action_mask"])))
    assert environment.agent_selection == "player_1"
    after = [environment.observe(f"player_{seat}") for seat in (1, 2)]
    assert [(seen["observation"].tolist(), seen["action_mask"].tolist()) for seen in before] == [
        (seen["observation"].tolist(), seen["action_mask"].tolist()) for seen in after
    ]


def test_who_is_not_asked_may_do_nothing() -> None:
    environment = GameEnv("nullern", 2)
    environment.reset(seed=1)
    assert environment.agent_selection == "player_1"
    assert not environment.observe("player_0")["action_mask"].any()
    assert environment.observe("player_1")["action_mask"].sum() == 2


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.utils.env_logger")
def test_an_illegal_action_ends_the_game_and_costs() -> None:
    environment = env("nullern", 3)
    environment.reset(seed=1)
    agent = environment.agent_selection
    environment.step(0)
    assert all(environment.terminations.values())
    assert environment.rewards[agent] == ILLEGAL_REWARD


def test_options_are_those_of_the_game() -> None:
    environment = GameEnv("sixth_sense", 2, novice=True)
    environment.reset(seed=1)
    fields = {field.name: field for field in GAMES["sixth_sense"].observation(2)}
    assert environment.observe("player_0")["observation"][fields["novice"].offset] == 1
    with pytest.raises(OptionError, match="for 2 to 6 seats, not 7"):
        env("sixth_sense", 7)
    with pytest.raises(OptionError, match="has no option"):
        env("nullern", 3, novice=True)


def test_it_renders_as_a_line() -> None:
    environment = env("nullern", 2)
    environment.reset(seed=1)
    assert environment.render() == "Nullern, round 1, scores 0, 0: player_1 is asked"
    environment.close()
