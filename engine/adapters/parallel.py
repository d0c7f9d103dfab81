"""PettingZoo's parallel interface: all seats that owe a choice choose in one step, as for predictions in 6th Sense.

Observations, masks and seeds are those of `engine.adapters.pettingzoo`. If only one seat chooses, the others' masks are
all 0 and their actions are ignored.
"""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Space
from pettingzoo import ParallelEnv

from engine.adapters.pettingzoo import GAME, GameEnv
from engine.adapters.rewards import Rewards
from engine.adapters.vector_env import IllegalActionError, checked_action
from engine.game import OVER, Option
from engine.registry import GAMES


class ParallelGameEnv(ParallelEnv[str, dict[str, Any], Any]):  # type: ignore[misc, unused-ignore] # the library has no types
    """A game in which all seats that owe a choice make it in the same step."""

    def __init__(
        self, game: str = GAME, seats: int = 4, *, rewards: str = "round", normalised: bool = False, **options: Option
    ) -> None:
        """Set up the environment. `Rewards` explains the rewards, `env` the other arguments and the errors."""
        self._game = GameEnv(game, seats, **options)
        self._rewards = Rewards(GAMES[game], seats, options, rewards, normalised)
        self.metadata = {"name": f"{game}_parallel_v0", "render_modes": ["ansi"]}
        self.render_mode = "ansi"
        self.possible_agents = self._game.possible_agents
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's observations."""
        return self._game.observation_space(agent)

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of actions: indices of `game.actions`."""
        return self._game.action_space(agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Deal a new game, the same for the same seed. `options` are ignored. Raises: SeedError."""
        self._game.reset(seed, options)
        self.agents = self.possible_agents[:]
        return self._observed(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Make the choices of all agents; return observations, rewards, terminations, truncations and infos.

        Raises `IllegalActionError` before any choice is made if one is missing, illegal or of an unknown agent.
        """
        if not self.agents:
            raise IllegalActionError("no game is going on: call reset")
        state = self._game._state
        before = state.scores
        if strangers := [agent for agent in actions if agent not in self.agents]:
            raise IllegalActionError(f"there is no agent {strangers[0]!r}; there are {', '.join(self.agents)}")
        names = [(seat, f"player_{seat}") for seat in state.waiting()]
        chosen = [(seat, checked_action(state, seat, actions.get(name), name)) for seat, name in names]
        for seat, action in chosen:
            state.apply(action, seat)
        over = state.player == OVER
        won = self._rewards.of(before, state) or [0.0] * len(self.agents)
        agents = self.agents
        if over:
            self.agents = []
        return (
            self._observed(),
            dict(zip(agents, won, strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )

    def _observed(self) -> dict[str, dict[str, Any]]:
        return {agent: self._game.observe(agent) for agent in self.possible_agents}

    def render(self) -> str:
        """Return one line with the round, the scores and the agents that must choose."""
        return self._game.render()

    def close(self) -> None:
        """Do nothing: the environment uses no resources."""
