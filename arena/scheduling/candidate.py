# Compiled: every decision passes through here.
"""Candidates: the connected bots in the pool of their game."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from math import inf
from typing import Final, Generic, NamedTuple, TypeVar

from arena.scheduling.information_gain import NEWCOMER, MatchValue

REMEMBERED: Final = 64
"""Number of a bot's latest opponents that count as meetings."""

BotT = TypeVar("BotT", bound=Hashable)


class LastMatch(NamedTuple):
    """The match that a waiting bot played last."""

    match: Hashable
    seconds: float
    """Length of the match."""


class Waiting(NamedTuple, Generic[BotT]):
    """A connected bot, which waits if it has room for a match."""

    bot: BotT
    owner: str
    since: float
    """Instant in seconds from which it waits: when it connected, had room again or last got a match."""
    room: int = 1
    """Number of further matches that it can play now."""
    value: MatchValue = NEWCOMER
    """The information that the ladder gains from a match of this bot, as of the last fit."""
    pending: int = 0
    """Matches whose results are not in `value`, such as those it is playing."""
    last_match: LastMatch | None = None
    """The match that it played last; None if it has been given another since, or has not played."""
    pace_class: int = 0
    """The bot's pace class, see `PaceRules.pace_class`. Bots of one class wait for each other without limit."""
    patient: bool = True
    """True if it may currently sit with a bot of a slower class."""
    free_at: float = -inf
    """For a bot without room, the instant at which it is expected to have some; −∞ if unknown."""
    held_up: bool = False
    """True if it has no room because all its tables include slower bots."""
    tables: int = 0
    """Number of tables at which it has a seat or has been offered one."""
    spent: frozenset[BotT] = frozenset()
    """Connected bots with which it has spent the pair's quota, so that results between them do not count today. The
    relation is symmetric."""


class Candidate(Generic[BotT]):
    """A connected bot in the pool."""

    __slots__ = ("_latest", "_met", "beyond_share", "number", "turn", "waiting")

    def __init__(self, waiting: Waiting[BotT], number: int) -> None:
        self.waiting = waiting
        self.number = number
        """Number within the pool, from 0."""
        self.beyond_share = False
        """True if it sits at more tables than its share while others wait."""
        self.turn = 0.0
        """The number of its round plus a random fraction that ranks it for coverage there; each table leads to the next
        round."""
        self._met: dict[int, int] = {}
        self._latest: deque[int] = deque()

    def meetings(self, number: int) -> int:
        """Count the latest meetings with the candidate or house bot that has this number."""
        return self._met.get(number, 0)

    def counts_against(self, others: list[Candidate[BotT]]) -> bool:
        """Return whether all its pairs with the others have quota left."""
        for other in others:
            spent = other.waiting.spent
            if spent and self.waiting.bot in spent:
                return False
        return True

    def meet(self, number: int) -> None:
        """Count a meeting; beyond `REMEMBERED` meetings the earliest is dropped."""
        self._met[number] = self._met.get(number, 0) + 1
        self._latest.append(number)
        if len(self._latest) > REMEMBERED:
            earliest = self._latest.popleft()
            self._met[earliest] -= 1
            if not self._met[earliest]:
                del self._met[earliest]
