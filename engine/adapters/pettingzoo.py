"""PettingZoo environments (AEC) for the games: `env("sixth_sense", seats=4)`.

Agents are the seats, "player_0" and so on. An agent observes `{"observation": …, "action_mask": …}`: the vector that
`game.observation` describes, and 1 for every legal action. Its reward is the change of its score, so that rewards sum
to the score. Seats that choose simultaneously are asked one after the other; no view shows a choice before all are
made, so a later seat learns nothing. Cards are dealt from the seed given to `reset`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from gymnasium.spaces import Discrete, Space
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from engine.adapters.seeds import settled_seed
from engine.adapters.spaces import observation_space, observed
from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, Option
from engine.registry import GAMES

GAME: Final = next(iter(GAMES))
"""Default game."""
ILLEGAL_REWARD: Final = -1000.0
"""Reward for an illegal action, which ends the game. It is lower than any score of a game without a target."""


def env(game: str = GAME, seats: int = 4, **options: Option) -> AECEnv[str, dict[str, Any], int]:
    """Create an environment that checks its input: an illegal action ends the game, see `ILLEGAL_REWARD`.

    Raises `engine.game.OptionError` for seats or options that the game does not have, `UnknownGameError` for an unknown
    game.
    """
    checked = TerminateIllegalWrapper(GameEnv(game, seats, **options), illegal_reward=ILLEGAL_REWARD)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(checked))


class GameEnv(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc, unused-ignore] # the library has no types
    """An environment that does not check its input."""

    def __init__(self, game: str = GAME, seats: int = 4, **options: Option) -> None:
        """Set up the environment; arguments and errors are those of `env`."""
        super().__init__()
        self._game = GAMES[game]
        self._seats = seats
        self._options = options
        self._game.longest(seats, **options)  # this raises OptionError
        self.metadata = {"name": f"{game}_v0", "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = "ansi"
        self.possible_agents = [f"player_{seat}" for seat in range(seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {agent: observation_space(self._game, seats) for agent in self.possible_agents}
        self._action_spaces = {agent: Discrete(len(self._game.actions)) for agent in self.possible_agents}
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of actions: indices of `game.actions`."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game, the same for the same seed.

        `options` are ignored: the game's options are fixed in `env`. Raises `SeedError` for a seed that is not 0 to
        2^63 − 1.
        """
        if seed is not None or self._random is None:
            self._random, _ = np_random(None if seed is None else settled_seed(seed))
        self._state = self._game.new(self._seats, SeededDecks(self._random.bytes(KEY_BYTES)), **self._options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self._state.player]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an agent's observation and action mask; the mask is all zeros unless the seat must choose."""
        return observed(self._state, self._seat_of[agent], self._observation_spaces[agent])

    def step(self, action: int | None) -> None:
        """Make the choice of the selected agent; None for an agent whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None, "an agent whose game is not over chooses"
        before = self._state.scores
        self._state.apply(int(action), self._seat_of[agent])
        self._cumulative_rewards[agent] = 0.0
        for seat, other in enumerate(self.agents):
            self.rewards[other] = float(self._state.scores[seat] - before[seat])
        if self._state.player == OVER:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.agents[self._state.player]
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self) -> str:
        """Return one line with the round, the scores and the agent that must choose."""
        asked = "over" if self._state.player == OVER else f"{self.agent_selection} is asked"
        scores = ", ".join(map(str, self._state.scores))
        return f"{self._game.title}, round {self._state.round + 1}, scores {scores}: {asked}"

    def close(self) -> None:
        """Do nothing: the environment uses no resources."""
