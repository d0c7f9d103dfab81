"""Solve the rest of a round with all hands open: by minimax with alpha-beta for two seats, by max^n for more.

A seat's value is its points in the round minus the mean of the others' points. With two seats, each gains
what the other loses, so bounds cut off lines that cannot matter (Knuth and Moore, 1975). With more seats, each makes
its own best choice (Luckhardt and Irani, 1986), and the first of equally good ones: without this rule the others'
values would be undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Final, TypeAlias

from engine.game import OVER, RoundReport, SeatView, State
from engine.points import points_above

RoundWorth: TypeAlias = Callable[[RoundReport], Sequence[int]]
"""Function that returns the worth of a round for each seat, in points, including later costs."""
Values: TypeAlias = tuple[float, ...]
"""For each seat, its points in the round minus the mean of the others' points."""

MOST_LINES: Final = 20_000
"""Default maximum number of lines of play that are followed to their end."""


class EndingTooLongError(ValueError):
    """Error for an ending with more lines of play than the limit allows. The message states both numbers."""


class EndingSolver:
    """Solves endings of one game."""

    def __init__(self, worth: RoundWorth, most_lines: int = MOST_LINES) -> None:
        self._worth = worth
        self._most_lines = most_lines
        self._round = 0
        self.lines = 0
        """Number of lines followed for the latest answer."""

    def values(self, state: State[SeatView, RoundReport]) -> dict[int, Values]:
        """Return the values for all seats of each action of the seat that must choose, in ascending order of actions.

        The state does not change. Raises EndingTooLongError; ValueError if the game is over, or if several seats choose
        at once, which no order of turns describes.
        """
        if len(state.waiting()) != 1:
            raise ValueError(f"an ending is solved where one seat is to choose, not {len(state.waiting())}")
        self._round, self.lines = state.round, 0
        return {action: self._after(state, action) for action in state.legal(state.player)}

    def _after(self, state: State[SeatView, RoundReport], action: int) -> Values:
        after = state.clone()
        after.apply(action, state.player)
        if len(state.scores) == 2:
            first = self._two(after, -inf, inf)
            return first, -first
        return self._many(after)

    def _over(self, state: State[SeatView, RoundReport]) -> bool:
        return state.round != self._round or state.player == OVER

    def _ended(self, state: State[SeatView, RoundReport]) -> Sequence[int]:
        """Return the worth of the round at the end of a line."""
        self.lines += 1
        if self.lines > self._most_lines:
            raise EndingTooLongError(
                f"the ending has more than {self._most_lines:,} lines of play: ask nearer to the round's end, "
                f"or allow more"
            )
        assert state.report is not None
        return self._worth(state.report)

    def _two(self, state: State[SeatView, RoundReport], low: float, high: float) -> float:
        """Return the value for seat 0 of two. If it is outside the bounds, return any number beyond the same bound."""
        if self._over(state):
            return points_above(self._ended(state), 0)
        seat = state.player
        best = inf if seat else -inf
        for action in state.legal(seat):
            after = state.clone()
            after.apply(action, seat)
            value = self._two(after, low, high)
            if seat:
                best = min(best, value)
                high = min(high, value)
            else:
                best = max(best, value)
                low = max(low, value)
            if low >= high:
                break
        return best

    def _many(self, state: State[SeatView, RoundReport]) -> Values:
        if self._over(state):
            worth = self._ended(state)
            return tuple([points_above(worth, seat) for seat in range(len(worth))])
        seat = state.player
        best: Values = ()
        for action in state.legal(seat):
            after = state.clone()
            after.apply(action, seat)
            values = self._many(after)
            if not best or values[seat] > best[seat]:
                best = values
        return best
