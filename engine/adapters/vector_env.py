"""Many games at once for learning code: one array of observations, one of masks, and a step for all of them.

Every game asks one seat at a time. Seats that choose simultaneously are asked in rising order; no view shows a choice
before all are made. A finished game is followed by a new one in the same step.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from engine.adapters.rewards import Rewards
from engine.adapters.seeds import decks, settled_seed
from engine.game import OVER, Option, RoundReport, SeatView, State, settle_options
from engine.registry import GAMES

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
TYPES: Final = ("float32", "uint8")


class IllegalActionError(ValueError):
    """Error for an action that its mask does not allow. No choice was made."""


class MaskError(ValueError):
    """Error for a mask from which no action can be chosen."""


def checked_action(state: State[SeatView, RoundReport], seat: int, action: Any, who: str) -> int:
    """Return a seat's action as a whole number. Raises IllegalActionError, naming `who`, for an illegal action."""
    legal = [*state.legal(seat)]
    try:
        chosen = operator.index(action)
    except TypeError:
        chosen = -1  # a float, None, or an array of several numbers
    if chosen not in legal:
        raise IllegalActionError(f"{who} cannot take action {action}, only {', '.join(map(str, legal))}")
    return chosen


class AskedSeats(NamedTuple):
    """The seats to ask, one per game. The arrays belong to the environment: the next step overwrites them."""

    seats: Array
    """By game, the seat that must choose [games], int64."""
    observations: Array
    """By game, the view of that seat [games, numbers]."""
    masks: Array
    """By game, 1 for every legal action [games, actions], uint8."""


class Stepped(NamedTuple):
    """The result of a step. The arrays belong to the environment: the next step overwrites them."""

    asked: AskedSeats
    rewards: Array
    """By game and seat, the reward of the choice [games, seats], float32."""
    over: Array
    """By game, True if it ended and a new one was dealt [games], bool."""
    scores: Array
    """By game and seat, the final scores of finished games, 0 for others [games, seats], int64."""


class VectorEnv:
    """Several games with the same seats and options, stepped together."""

    def __init__(
        self,
        game: str,
        seats: int = 4,
        games: int = 256,
        *,
        dtype: str = "float32",
        rewards: str = "round",
        normalised: bool = False,
        **options: Option,
    ) -> None:
        """Set up the games; nothing is dealt before `reset`.

        `dtype` is "float32" or "uint8" (`Field.unit`), `rewards` "round" or "match", see `Rewards`. Raises
        `engine.game.OptionError` for seats or options that the game does not have, `UnknownGameError` for an unknown
        game, ValueError for any other unknown value.
        """
        if games < 1:
            raise ValueError(f"an environment has a game or more, not {games}")
        if dtype not in TYPES:
            raise ValueError(f"observations are of float32 or uint8, not {dtype!r}")
        self.game = GAMES[game]
        settle_options(self.game, seats, options)
        self._rewards = Rewards(self.game, seats, options, rewards, normalised)
        self._seats, self._options = seats, options
        fields = self.game.observation(seats)
        self.games, self.seats = games, seats
        self.numbers = fields[-1].offset + fields[-1].size
        """Length of an observation."""
        self.actions = len(self.game.actions)
        self._asked = AskedSeats(
            np.zeros(games, np.int64), np.zeros((games, self.numbers), dtype), np.zeros((games, self.actions), np.uint8)
        )
        self._result = (np.zeros((games, seats), np.float32), np.zeros(games, bool), np.zeros((games, seats), np.int64))
        self._rows = self._observed_rows()
        self._starts = np.arange(games) * self.actions
        self._states: list[State[SeatView, RoundReport]] = []
        self._episodes = [0] * games
        self._seed = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy: everything but the rows, which are views of the observations."""
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a state that `__getstate__` returned."""
        self.__dict__.update(state)
        self._rows = self._observed_rows()

    def _observed_rows(self) -> list[memoryview]:
        """Return a writable view of each game's observation."""
        return [memoryview(row) for row in self._asked.observations]

    def reset(self, seed: int | None = None) -> AskedSeats:
        """Deal all games anew. A game's deals depend only on the seed and the game's number.

        Raises `SeedError` for a seed that is not 0 to 2^63 − 1.
        """
        self._seed = settled_seed(seed)
        self._episodes = [0] * self.games
        self._states = [self._dealt(number) for number in range(self.games)]
        for number, state in enumerate(self._states):
            self._asked.seats[number] = state.player
            state.vector_into(state.player, self._rows[number])
        self._mask([state.legal(state.player) for state in self._states])
        return self._asked

    def step(self, actions: Any) -> Stepped:
        """Make the choice of the asked seat in every game. `actions`: one action per game [games].

        Raises `IllegalActionError` for an action that its mask does not allow, before any choice is made.
        """
        chosen = self._checked(actions)
        rewards, over, scores = self._result
        rewards[:], over[:], scores[:] = 0, False, 0
        rewarded, asked = self._rewards.of, self._asked.seats.tolist()
        players, legal = [], []
        for number, (state, row) in enumerate(zip(self._states, self._rows, strict=True)):
            before = state.scores
            state.apply(chosen[number], asked[number])
            player = state.player
            # A state replaces its scores when they change, which is rare.
            if state.scores is not before and (reward := rewarded(before, state)) is not None:
                rewards[number] = reward
            if player == OVER:
                over[number], scores[number] = True, state.scores
                self._episodes[number] += 1
                state = self._states[number] = self._dealt(number)
                player = state.player
            players.append(player)
            legal.append(state.legal(player))
            state.vector_into(player, row)
        self._asked.seats[:] = players
        self._mask(legal)
        return Stepped(self._asked, rewards, over, scores)

    def _dealt(self, number: int) -> State[SeatView, RoundReport]:
        return self.game.new(self._seats, decks(self._seed, number, self._episodes[number]), **self._options)

    def _mask(self, legal: Sequence[Sequence[int]]) -> None:
        """Write the legal actions of the seats that must choose, by game."""
        counts = [len(actions) for actions in legal]
        if self.actions <= 256:
            allowed = np.frombuffer(b"".join(map(bytes, legal)), np.uint8)
        else:
            allowed = np.array([action for actions in legal for action in actions])
        masks = self._asked.masks.reshape(-1)
        masks[:] = 0
        masks[np.repeat(self._starts, counts) + allowed] = 1

    def _checked(self, actions: Any) -> list[int]:
        """Return the actions, one for each game. Raises: IllegalActionError."""
        if not self._states:
            raise IllegalActionError("nothing is dealt yet: call reset")
        chosen = np.asarray(actions)
        if chosen.shape != (self.games,) or chosen.dtype.kind not in "iu":
            raise IllegalActionError(
                f"a step takes {self.games} actions as whole numbers, not {chosen.dtype} of shape {chosen.shape}"
            )
        inside = (chosen >= 0) & (chosen < self.actions)
        fine = inside & (self._asked.masks[np.arange(self.games), np.where(inside, chosen, 0)] == 1)
        if not fine.all():
            number = int(np.argmin(fine))
            seat = int(self._asked.seats[number])
            checked_action(self._states[number], seat, chosen[number], f"seat {seat} of game {number}")
        found: list[int] = chosen.tolist()
        return found


def choose(masks: Array, random: np.random.Generator) -> Array:
    """Return an action for each mask [games], drawn uniformly from the allowed actions.

    `masks`: [games, actions]. Raises MaskError if a mask allows no action, or if the array is not two-dimensional.
    """
    if masks.ndim != 2:
        raise MaskError(f"masks have two dimensions, games and actions, not the shape {masks.shape}")
    allows = masks != 0
    counts = np.count_nonzero(allows, axis=1)
    if not counts.all():
        raise MaskError(f"mask {int(np.argmin(counts))} allows no action")
    allowed = np.flatnonzero(allows)  # On booleans this takes a tenth of the time that it takes on numbers.
    ends = np.cumsum(counts)
    places = ends - counts + (random.random(len(counts)) * counts).astype(np.int64)
    chosen: Array = allowed[places] % masks.shape[1]
    return chosen
