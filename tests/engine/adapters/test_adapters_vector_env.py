"""Environments with many games at once, with all seats, or with one seat, compared with the engine's own games."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

from arena.house import HOUSE_BOTS
from engine.adapters.parallel import ParallelGameEnv
from engine.adapters.pettingzoo import env
from engine.adapters.seat_env import SeatEnv
from engine.adapters.seeds import SeedError, decks
from engine.adapters.spaces import observed as observed_of
from engine.adapters.vector_env import IllegalActionError, MaskError, VectorEnv, choose
from engine.game import OVER, OptionError, UnknownGameError
from engine.registry import GAMES

COUNTER = (HOUSE_BOTS["nullern"][-1],)
EVERY_GAME = pytest.mark.parametrize("game", [*GAMES])


@EVERY_GAME
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_every_game_is_the_engines_own(game: str, dtype: str) -> None:
    """Compare each game with an engine game on the same decks: questions, observations, masks, rewards, next games."""
    seats, games = min(3, GAMES[game].seats[-1]), 5
    env, random = VectorEnv(game, seats, games, dtype=dtype), np.random.default_rng(2)
    asked = env.reset(seed=9)
    episodes = [0] * games
    states = [GAMES[game].new(seats, decks(9, number, 0)) for number in range(games)]
    total = np.zeros((games, seats))
    ended = 0
    while ended < games + 2:
        for number, state in enumerate(states):
            seat = int(asked.seats[number])
            assert seat == state.player
            expected = np.zeros(env.numbers, dtype)
            state.vector_into(seat, expected)
            assert (asked.observations[number] == expected).all()
            assert np.flatnonzero(asked.masks[number]).tolist() == [*state.legal(seat)]
        actions = choose(asked.masks, random)
        asked, rewards, over, scores = env.step(actions)
        total += rewards
        for number, state in enumerate(states):
            state.apply(int(actions[number]), state.player)
            assert total[number].tolist() == [*state.scores]
            assert over[number] == (state.player == OVER)
            if over[number]:
                assert scores[number].tolist() == [*state.scores]
                episodes[number] += 1
                ended += 1
                total[number] = 0
                states[number] = GAMES[game].new(seats, decks(9, number, episodes[number]))
            else:
                assert not scores[number].any()


def played(env: VectorEnv, seed: int, steps: int = 60) -> list[Any]:
    asked, random, found = env.reset(seed=seed), np.random.default_rng(1), []
    for _ in range(steps):
        stepped = env.step(choose(asked.masks, random))
        asked = stepped.asked
        found.append((asked.observations.copy(), stepped.rewards.copy()))
    return found


def test_a_seed_decides_everything_and_a_game_does_not_depend_on_the_others() -> None:
    one, same = (played(VectorEnv("nullern", 2, 4), 5) for _ in range(2))
    assert all((a == b).all() and (x == y).all() for (a, x), (b, y) in zip(one, same, strict=True))
    other = played(VectorEnv("nullern", 2, 4), 6)
    assert any((a != b).any() for (a, _), (b, _) in zip(one, other, strict=True))
    few, many = VectorEnv("nullern", 2, 2).reset(seed=5), VectorEnv("nullern", 2, 9).reset(seed=5)
    assert (few.observations == many.observations[:2]).all()
    assert (few.observations[0] != few.observations[1]).any()


@pytest.mark.parametrize("by", ["round", "match"])
@pytest.mark.parametrize("normalised", [False, True])
def test_rewards_add_up_to_the_score(by: str, normalised: bool) -> None:
    env, random = VectorEnv("sixth_sense", 2, 3, rewards=by, normalised=normalised), np.random.default_rng(3)
    asked = env.reset(seed=1)
    total, rewarded, over = np.zeros((3, 2)), np.zeros(3), np.zeros(3, bool)
    while not over.any():
        asked, rewards, over, scores = env.step(choose(asked.masks, random))
        total += rewards
        rewarded += rewards.any(axis=1)
    points = GAMES["sixth_sense"].points(2)
    expected = scores / max(-points[0], points[-1]) if normalised else scores
    assert total[over] == pytest.approx(expected[over], abs=1e-6)
    assert (rewarded[over] == 1).all() == (by == "match")
    assert not normalised or np.abs(total).max() <= 1


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0, 1], "takes 3 actions as whole numbers, not int64 of shape \\(2,\\)"),
        ([0.5, 0.5, 0.5], "not float64"),
        ([82, 82, 3], "seat 1 of game 2 cannot take action 3, only 81, 82"),
        ([82, -1, 81], "seat 1 of game 1 cannot take action -1"),
        ([82, 500, 81], "seat 1 of game 1 cannot take action 500"),
    ],
)
def test_an_action_that_is_not_allowed_plays_nothing(actions: list[Any], words: str) -> None:
    env = VectorEnv("nullern", 2, 3)
    before = env.reset(seed=4).observations.copy()
    with pytest.raises(IllegalActionError, match=words):
        env.step(actions)
    assert (before == env._asked.observations).all()
    assert (env.step([82, 81, 82]).asked.observations != before).any()


def test_a_step_before_a_reset_is_refused() -> None:
    with pytest.raises(IllegalActionError, match="call reset"):
        VectorEnv("nullern", 2, 1).step([81])


@pytest.mark.parametrize("seed", [-1, 1 << 63, 0.5, "7", np.array([7])])
def test_seeds_out_of_range_are_refused(seed: Any) -> None:
    alone = SeatEnv("nullern", 2, bots=COUNTER)
    environments = alone, VectorEnv("nullern", 2, 1), ParallelGameEnv("nullern", 2), env("nullern", 2)
    for reset in [each.reset for each in environments]:
        with pytest.raises(SeedError, match="a seed is"):
            reset(seed=seed)
    assert VectorEnv("nullern", 2, 1).reset(seed=(1 << 63) - 1)


def test_masks_that_allow_nothing_are_refused() -> None:
    random = np.random.default_rng(1)
    masks = np.array([[0, 1, 1], [0, 0, 0]], np.uint8)
    with pytest.raises(MaskError, match="mask 1 allows no action"):
        choose(masks, random)
    with pytest.raises(MaskError, match="two dimensions"):
        choose(masks[0], random)
    masks[1, 0] = 1
    drawn = np.array([choose(masks, random) for _ in range(400)])
    assert set(drawn[:, 1]) == {0}
    assert 140 < (drawn[:, 0] == 1).sum() < 260
    assert set(drawn[:, 0]) == {1, 2}


def test_what_a_game_does_not_have_is_refused() -> None:
    with pytest.raises(OptionError, match="for 2 to 7 seats, not 8"):
        VectorEnv("nullern", 8)
    with pytest.raises(OptionError, match="no option 'novice'"):
        VectorEnv("nullern", 2, novice=True)
    with pytest.raises(ValueError, match="a game or more, not 0"):
        VectorEnv("nullern", 2, 0)
    with pytest.raises(ValueError, match="float32 or uint8, not 'float64'"):
        VectorEnv("nullern", 2, dtype="float64")
    with pytest.raises(ValueError, match='by "round" or by "match", not by'):
        VectorEnv("nullern", 2, rewards="trick")


@EVERY_GAME
def test_it_passes_the_parallel_api_test(game: str) -> None:
    class Guided(ParallelGameEnv):
        """The library's test ignores masks. If it chooses an illegal action, this agent plays the first legal
        action.
        """

        def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
            masks = {agent: self._game.observe(agent)["action_mask"] for agent in actions}
            return super().step({agent: int(np.argmax(mask)) for agent, mask in masks.items()})

    parallel_api_test(Guided(game, min(3, GAMES[game].seats[-1])), num_cycles=120)


def test_S4_predictions_are_made_in_one_step() -> None:
    env = ParallelGameEnv("sixth_sense", 3, rewards="match")
    observed, _ = env.reset(seed=1)
    assert all(observed[agent]["action_mask"].any() for agent in env.agents)
    chosen = {agent: int(np.argmax(observed[agent]["action_mask"])) for agent in env.agents}
    with pytest.raises(IllegalActionError, match="player_1 cannot take action None"):
        env.step({"player_0": chosen["player_0"]})
    observed, rewards, *_ = env.step(chosen)
    asked = [agent for agent in env.agents if observed[agent]["action_mask"].any()]
    assert asked == ["player_1"]
    assert set(rewards.values()) == {0}
    total = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        actions = {agent: int(np.argmax(observed[agent]["action_mask"])) for agent in env.agents}
        observed, rewards, terminated, *_ = env.step(actions)
        total = {agent: total[agent] + rewards[agent] for agent in total}
    assert all(terminated.values())
    assert list(total.values()) == [*env._game._state.scores]
    with pytest.raises(IllegalActionError, match="call reset"):
        env.step({})


@EVERY_GAME
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_seat_against_the_house(game: str) -> None:
    env = SeatEnv(game, min(3, GAMES[game].seats[-1]), seat=1, bots=(HOUSE_BOTS[game][-1], HOUSE_BOTS[game][0]))
    observed, _ = env.reset(seed=3)
    total, over, steps = 0.0, False, 0
    firsts = [observed["observation"]]
    while not over:
        assert observed["action_mask"].any()
        observed, reward, over, _, info = env.step(int(np.argmax(observed["action_mask"])))
        total += reward
        steps += 1
    assert total == info["scores"][1]
    assert not observed["action_mask"].any()
    assert steps > 5
    with pytest.raises(IllegalActionError, match="call reset"):
        env.step(0)
    firsts += [env.reset(seed=seed)[0]["observation"] for seed in (3, None)]
    assert (firsts[0] == firsts[1]).all()
    assert (firsts[1] != firsts[2]).any()
    with pytest.raises(IllegalActionError, match="seat 1 cannot take action"):
        env.step(-1)
    assert env.observation_space.contains(observed)


def test_it_passes_gymnasiums_check_of_spaces_and_seeds() -> None:
    class Guided(SeatEnv):
        """This check ignores masks, too."""

        def step(self, action: Any) -> Any:
            assert self._state is not None
            return super().step(self._state.legal(self.seat)[0])

    check_env(Guided("nullern", 2, bots=COUNTER), skip_render_check=True)


def test_bots_and_seats_that_are_not_there_are_refused() -> None:
    with pytest.raises(TypeError, match="a bot has a method decide, unlike 'counter'"):
        SeatEnv("nullern", 3, bots=("counter",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        SeatEnv("nullern", 3, bots=())
    with pytest.raises(ValueError, match="seat is 0 to 2, not 3"):
        SeatEnv("nullern", 3, seat=3, bots=COUNTER)


def test_a_game_that_is_not_there_is_named() -> None:
    for make in (VectorEnv, partial(SeatEnv, bots=COUNTER), ParallelGameEnv, env):
        with pytest.raises(UnknownGameError, match=r"^there is no game 'chess'; there are sixth_sense, nullern"):
            make("chess", 2)
    assert GAMES.get("chess") is None
    assert "chess" not in GAMES


@pytest.mark.parametrize("action", [None, 81.0, "81", [81, 82], np.array([81.0])])
def test_an_action_that_is_no_whole_number_plays_nothing(action: Any) -> None:
    alone, together = SeatEnv("nullern", 2, seat=1, bots=COUNTER), ParallelGameEnv("nullern", 2)
    observed, _ = alone.reset(seed=1)
    with pytest.raises(IllegalActionError, match="seat 1 cannot take action"):
        alone.step(action)
    assert (observed_of(alone._state, 1, alone.observation_space)["observation"] == observed["observation"]).all()  # type: ignore[arg-type]
    alone.step(np.array(81))  # learners pass it in this form
    together.reset(seed=1)
    with pytest.raises(IllegalActionError, match="player_1 cannot take action"):
        together.step({"player_1": action})
    with pytest.raises(IllegalActionError, match="no agent 'player_2'; there are player_0, player_1"):
        together.step({"player_1": 81, "player_2": 81})
    together.step({"player_0": None, "player_1": 81})


def test_the_former_place_of_the_adapters_names_the_new_one() -> None:
    said = r"^arena\.adapters is engine\.adapters: .* pip install '\./engine\[pettingzoo\]'$"
    for name in ("arena.adapters", "arena.adapters.vector_env"):
        with pytest.raises(ImportError, match=said):
            import_module(name)
