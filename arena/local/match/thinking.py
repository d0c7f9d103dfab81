"""Records of the bots that are thinking, and detection of slow bots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arena.local.match.sets import Subject

LONG: Final = 10.0
"""Number of seconds of thinking after which a bot is first reported, and then the pause before the second report. Later
pauses double.
"""
LONGEST_PAUSE: Final = 60.0
"""Longest pause in seconds between two reports of a bot."""
LOOK: Final = 1.0
"""Number of seconds between two searches for slow bots."""
FIELDS: Final = 4
"""Number of floats in a `ThinkingRecord`."""
SINCE, SEAT, SET, GAME = range(FIELDS)


class ThinkingBot(NamedTuple):
    """A bot that is thinking."""

    set_number: int
    game: int
    """Index of the game in its set."""
    seat: int
    since: float
    """Time at which the bot began to think, in seconds of `time.perf_counter`, which is the same in all processes."""


class SlowBot(NamedTuple):
    """A bot that has been thinking for a long time."""

    spec: str
    seat: int
    set_number: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.spec} has been thinking for {self.seconds:.0f} s, in seat {self.seat} of set {self.set_number}"


class ThinkingRecord:
    """Record of the bot that is thinking in one worker.

    The record's memory may be shared with the worker's parent, which can then read it at any time.
    """

    def __init__(self, memory: memoryview[float]) -> None:
        """`memory` has `FIELDS` floats, initially 0."""
        self._memory = memory

    def play(self, set_number: int, game: int) -> None:
        """Record that a game of a set begins."""
        self._memory[SET], self._memory[GAME] = float(set_number), float(game)

    def think(self, seat: int, now: float) -> None:
        """Record that the bot in a seat begins to think. `now` is the current `time.perf_counter()`."""
        self._memory[SINCE] = now
        self._memory[SEAT] = float(seat)

    def rest(self) -> None:
        """Record that no bot is thinking."""
        self._memory[SINCE] = 0.0

    def read(self) -> ThinkingBot | None:
        """Return the bot that is thinking now, or None."""
        since = self._memory[SINCE]
        found = ThinkingBot(int(self._memory[SET]), int(self._memory[GAME]), int(self._memory[SEAT]), since)
        # if the time has changed, another bot began to think while we read
        return found if since and since == self._memory[SINCE] else None


class SlowBots:
    """Detection of a match's slow bots. A bot that is slow in several games at once is reported only once."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._paused: dict[str, tuple[float, float]] = {}
        """For each bot, the time before which it is not reported again, and the length of the pause after that."""

    def due(self, thinking: Iterable[ThinkingBot], now: float) -> Iterator[SlowBot]:
        """Yield the bots to report now. `now` is the current `time.perf_counter()`."""
        for each in sorted(thinking, key=lambda each: each.since):
            if (seconds := now - each.since) < LONG:
                return
            spec = bot_of(self._subject, each)
            until, pause = self._paused.get(spec, (now, LONG))
            if now >= until:
                self._paused[spec] = now + pause, min(2 * pause, LONGEST_PAUSE)
                yield SlowBot(spec, each.seat, each.set_number, seconds)


def bot_of(subject: Subject, thinking: ThinkingBot) -> str:
    """Return the bot that is thinking, as the command line names it."""
    plan = subject.planned(thinking.set_number)[thinking.game]
    return subject.bots[plan.bots[thinking.seat]]
