"""The games as PettingZoo environments of the AEC kind: `env("sixth_sense", seats=4)`.

An agent is a seat, "player_0" and so on. It observes `{"observation": …, "action_mask": …}`: the numbers that
`game.observation` describes, and 1 for every action open to it. Its reward is the change of its score, so that rewards
add up to the score. Where seats choose at once they are asked one after the other; as no view shows a choice before
all are made, nobody learns anything by being asked later. Cards are dealt by the seed given to `reset`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, Option
from engine.registry import GAMES

ILLEGAL_REWARD: Final = -1000.0
"""What an agent gets that acts illegally, which ends the game: less than any score of a game without a target."""


def env(game: str = "sixth_sense", seats: int = 4, **options: Option) -> AECEnv[str, dict[str, Any], int]:
    """An environment that checks what it is given: an illegal action ends the game, see `ILLEGAL_REWARD`.

    Raises `engine.game.OptionError` for seats or options that the game does not have, KeyError for another game.
    """
    checked = TerminateIllegalWrapper(GameEnv(game, seats, **options), illegal_reward=ILLEGAL_REWARD)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(checked))


class GameEnv(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc, unused-ignore] # the library has no types
    """An environment that trusts its caller."""

    def __init__(self, game: str = "sixth_sense", seats: int = 4, **options: Option) -> None:
        """As `env`."""
        super().__init__()
        self._game = GAMES[game]
        self._seats = seats
        self._options = options
        self._game.longest(seats, **options)  # refuses what the game does not have
        self.metadata = {"name": f"{game}_v0", "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = "ansi"
        self.possible_agents = [f"player_{seat}" for seat in range(seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {agent: self._observed() for agent in self.possible_agents}
        self._action_spaces = {agent: Discrete(len(self._game.actions)) for agent in self.possible_agents}
        self._random: np.random.Generator | None = None

    def _observed(self) -> Space[Any]:
        fields = self._game.observation(self._seats)
        bounds = [
            np.concatenate([np.full(field.size, bound, np.float32) for field, bound in zip(fields, given, strict=True)])
            for given in ([field.low for field in fields], [field.high for field in fields])
        ]
        mask = Box(0, 1, (len(self._game.actions),), np.int8)
        return Dict({"observation": Box(bounds[0], bounds[1], dtype=np.float32), "action_mask": mask})

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of what an agent observes."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Indices into `game.actions`."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deals a new game: the same for the same seed; `options` are not used, they belong to the environment."""
        if seed is not None or self._random is None:
            self._random, _ = np_random(seed)
        self._state = self._game.new(self._seats, SeededDecks(self._random.bytes(KEY_BYTES)), **self._options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self._state.player]

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent's seat may know, and what it may do: nothing where it is not asked."""
        seat = self._seat_of[agent]
        mask = np.zeros(len(self._game.actions), np.int8)
        if seat in self._state.waiting():
            mask[list(self._state.legal(seat))] = 1
        return {"observation": np.array(self._state.vector(seat), np.float32), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Makes the choice of the agent selected; None for one whose game is over."""
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
        """One line: round, scores and who is asked."""
        asked = "over" if self._state.player == OVER else f"{self.agent_selection} is asked"
        scores = ", ".join(map(str, self._state.scores))
        return f"{self._game.title}, round {self._state.round + 1}, scores {scores}: {asked}"

    def close(self) -> None:
        """Nothing is held open."""
