# Compiled: every decision passes through here.
"""Candidates: the connected bots of a game, as its pool stores them."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from math import inf
from typing import Final, Generic, NamedTuple, TypeVar

from arena.scheduling.information_gain import NEWCOMER, MatchValue

REMEMBERED: Final = 256
"""Number of a candidate's latest meetings that are remembered."""

BotT = TypeVar("BotT", bound=Hashable)


class Waiting(NamedTuple, Generic[BotT]):
    """A connected bot. It is waiting if it is below its capacity."""

    bot: BotT
    owner: str
    since: float
    """Time in seconds at which the wait began: the bot connected, fell below its capacity, or got its last match."""
    room: int = 1
    """Number of further matches that the bot can play now."""
    value: MatchValue = NEWCOMER
    """The information that the ladder gains from one of the bot's matches, as of the last fit."""
    pending: int = 0
    """Number of the bot's matches whose results `value` does not include, such as its running matches."""
    last_length: float = 0.0
    """Length of the bot's last match in seconds; 0 if it has not played."""
    pace_class: int = 0
    """The bot's pace class (see `PaceRules.pace_class`). Bots in the same class wait for each other without limit."""
    patient: bool = True
    """True if the bot may currently play with bots of a slower class."""
    free_at: float = -inf
    """For a bot at capacity, the expected time at which it can play another match. −∞ if unknown."""
    held_up: bool = False
    """True if the bot is at capacity, and all its tables include slower bots."""
    tables: int = 0
    """Number of tables at which the bot has a seat or an offer of one."""
    spent: frozenset[BotT] = frozenset()
    """The connected bots with which this bot has used up the pair's quota, so that results between them do not count
    today. The relation is symmetric.
    """


class Candidate(Generic[BotT]):
    """A connected bot in the pool."""

    __slots__ = ("_latest", "_met", "beyond_share", "number", "turn", "waiting")

    def __init__(self, waiting: Waiting[BotT], number: int) -> None:
        self.waiting = waiting
        self.number = number
        """Number within the pool, from 0."""
        self.beyond_share = False
        """True if the bot has more tables than its share while others wait."""
        self.turn = 0.0
        """The turn for coverage seats: a round's number plus a random fraction. A table moves it to the next round."""
        self._met: dict[int, int] = {}
        self._latest: deque[int] = deque()

    def meetings(self, number: int) -> int:
        """Count the latest meetings with the candidate or house bot that has this number."""
        return self._met.get(number, 0)

    def mean_meetings(self, opponents: int) -> float:
        """Return the mean number of latest meetings per opponent, given the number of possible opponents."""
        return len(self._latest) / max(1, opponents)

    def counts_against(self, others: list[Candidate[BotT]]) -> bool:
        """Return True if this candidate has quota left with each of the others."""
        for other in others:
            spent = other.waiting.spent
            if spent and self.waiting.bot in spent:
                return False
        return True

    def meet(self, number: int) -> None:
        """Count a meeting. Beyond `REMEMBERED` meetings, drop the earliest."""
        self._met[number] = self._met.get(number, 0) + 1
        self._latest.append(number)
        if len(self._latest) > REMEMBERED:
            earliest = self._latest.popleft()
            self._met[earliest] -= 1
            if not self._met[earliest]:
                del self._met[earliest]
