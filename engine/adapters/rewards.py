"""The agents' rewards: the points of each round, or the result of the match at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.game import OVER, Game, Option, State

BY: Final = ("round", "match")


class Rewards:
    """The rewards of an environment: changes of the scores after each round, or the final scores of the match."""

    def __init__(self, game: Game, seats: int, options: Mapping[str, Option], by: str, normalised: bool) -> None:
        """Take the game and its options. `by`: "round" or "match"; any other value raises ValueError.

        If `normalised`, rewards are fractions of the largest possible score; their sum over a match is at most ±1.
        """
        if by not in BY:
            raise ValueError(f'rewards are by "round" or by "match", not by {by!r}')
        points = game.points(seats, **options)
        self.scale = 1 / max(1, -points[0], points[-1]) if normalised else 1.0
        self.by_round = by == "round"

    def of(self, before: Sequence[int], state: State[Any, Any]) -> list[float] | None:
        """Return each seat's reward for a choice; None if all are 0. `before`: the scores before the choice."""
        after = state.scores
        if self.by_round:
            # A state replaces its scores when they change, which is rare.
            return None if after is before else [(b - a) * self.scale for a, b in zip(before, after, strict=True)]
        return [score * self.scale for score in after] if state.player == OVER else None
