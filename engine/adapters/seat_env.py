"""A Gymnasium environment for one seat among bots: `SeatEnv("nullern", 4, bots=[bot])`.

The agent observes `{"observation": …, "action_mask": …}` and makes its own seat's choices only. Its reward is its
points since its last choice, or the score at the end. Deals and the bots' random numbers come from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Protocol, TypeAlias

import gymnasium
from gymnasium.spaces import Discrete

from engine.adapters.rewards import Rewards
from engine.adapters.seeds import decks, settled_seed
from engine.adapters.spaces import observation_space, observed
from engine.adapters.vector_env import IllegalActionError, checked_action
from engine.game import OVER, Option, RoundReport, SeatView, State
from engine.registry import GAMES

Observed: TypeAlias = dict[str, Any]


class SeatBot(Protocol):
    """A bot for another seat, such as a house bot."""

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Choose one of the legal actions. `chance` is 32 random bytes."""


class SeatEnv(gymnasium.Env[Observed, Any]):
    """One seat of a game; bots play all others."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - the library's

    def __init__(
        self,
        game: str,
        seats: int = 4,
        *,
        bots: Sequence[SeatBot],
        seat: int = 0,
        rewards: str = "round",
        normalised: bool = False,
        **options: Option,
    ) -> None:
        """Set up the game. `bots`: the other players in the order of their seats, repeated if too few.

        Raises:
            OptionError: The game lacks the seats or options.
            UnknownGameError: There is no such game.
            ValueError: There is no such seat, or `bots` is empty.
            TypeError: A bot has no method `decide`.
        """
        self.game = GAMES[game]
        self._rewards = Rewards(self.game, seats, options, rewards, normalised)
        if seat not in range(seats):
            raise ValueError(f"seat is 0 to {seats - 1}, not {seat}")
        if not bots:
            raise ValueError("pass at least one bot for the other seats")
        for bot in bots:
            if not callable(getattr(bot, "decide", None)):
                raise TypeError(f"a bot has a method decide, unlike {bot!r}; arena.house.house_bot finds one by name")
        self.seat = seat
        self._seats, self._options = seats, options
        others = [each for each in range(seats) if each != seat]
        self._bots = {each: bots[place % len(bots)] for place, each in enumerate(others)}
        self.observation_space = observation_space(self.game, seats)
        self.action_space = Discrete(len(self.game.actions))
        self._seed = self._episode = self._choices = 0
        self._state: State[SeatView, RoundReport] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Deal a game and play it to the seat's first choice. Without a seed, the next game of the last seed is dealt.

        `options` are ignored. Raises `SeedError` for a seed that is not 0 to 2^63 − 1.
        """
        super().reset(seed=None if seed is None else settled_seed(seed) & 0xFFFF_FFFF)
        if seed is not None or self._state is None:
            self._seed, self._episode = settled_seed(seed), 0
        else:
            self._episode += 1
        self._choices = 0
        self._state = self.game.new(self._seats, decks(self._seed, 0, self._episode), **self._options)
        self._play_on(self._state)
        return observed(self._state, self.seat, self.observation_space), {}

    def step(self, action: Any) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Make the seat's choice, then the others' choices until it is the seat's turn again.

        Returns observation, reward, True if the game is over, False, and a dictionary: after the end, with "scores" and
        "places" by seat. Raises `IllegalActionError` for an action that the mask does not allow; nothing is played
        then.
        """
        state = self._state
        if state is None or state.player == OVER:
            raise IllegalActionError("no game is going on: call reset")
        chosen = checked_action(state, self.seat, action, f"seat {self.seat}")
        reward = self._applied(state, chosen, self.seat) + self._play_on(state)
        over = state.player == OVER
        info = {"scores": tuple(state.scores), "places": state.ranking()} if over else {}
        return observed(state, self.seat, self.observation_space), reward, over, False, info

    def _play_on(self, state: State[SeatView, RoundReport]) -> float:
        """Let the bots choose until it is the seat's turn; return the seat's reward for their choices."""
        reward = 0.0
        while state.player != OVER and self.seat not in state.waiting():
            seat = state.player
            self._choices += 1
            chance = sha256(b"house bots %d %d %d" % (self._seed, self._episode, self._choices)).digest()
            reward += self._applied(state, self._bots[seat].decide(state.view(seat), state.legal(seat), chance), seat)
        return reward

    def _applied(self, state: State[SeatView, RoundReport], action: int, seat: int) -> float:
        before = state.scores
        state.apply(action, seat)
        rewards = self._rewards.of(before, state)
        return 0.0 if rewards is None else rewards[self.seat]
