"""The space of an environment's observations, and the observation of one seat."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict

from engine.game import Game, RoundReport, SeatView, State


def observation_space(game: Game, seats: int) -> Dict:
    """Return the space of observations: the vector that `game.observation` describes, and a mask of the actions."""
    fields = game.observation(seats)
    low, high = (
        np.repeat(np.array([getattr(field, bound) for field in fields], np.float32), [each.size for each in fields])
        for bound in ("low", "high")
    )
    mask = Box(0, 1, (len(game.actions),), np.int8)
    return Dict({"observation": Box(low, high, dtype=np.float32), "action_mask": mask})


def observed(state: State[SeatView, RoundReport], seat: int, space: Any) -> dict[str, Any]:
    """Return a seat's observation, in an `observation_space`. The mask is all zeros unless the seat must choose."""
    mask = np.zeros(space["action_mask"].shape, np.int8)
    if seat in state.waiting():
        mask[list(state.legal(seat))] = 1
    numbers = np.empty(space["observation"].shape, np.float32)
    state.vector_into(seat, numbers)
    return {"observation": numbers, "action_mask": mask}
