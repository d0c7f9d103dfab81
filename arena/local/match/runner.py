"""Plays the sets of a comparison: in worker processes, in this process, or on a Dask cluster.

Sets arrive in the order in which they are finished. A task consists of sets that together take one to two seconds. Its
result depends only on the subject and the numbers of the sets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Final, Protocol

from arena.local.commands.spec import is_command, version_of
from arena.local.errors import ClusterUnusable
from arena.local.match.play_set import PlayedTask, play_set
from arena.local.match.sets import PlayedSet, Subject
from arena.local.match.thinking import LOOK, SlowBot
from arena.local.match.workers import Workers
from arena.local.play.players import HOUSE, load
from arena.local.server.command_bot import CommandPlace
from engine.registry import GAMES

TASK_SECONDS: Final = 1.5
MOST_SETS: Final = 500
"""Maximum number of sets in a task."""
GAMES_WITH_COMMANDS: Final = 8
"""Default number of simultaneous games if bots are commands. It is the SDK's default capacity."""
AHEAD: Final = 2
"""Number of unfinished tasks per worker, including those that are waiting."""


class TaskExecutor(Protocol):
    """Processes that play tasks."""

    workers: int
    """Number of tasks that run at the same time."""

    def submit(self, numbers: Sequence[int]) -> None:
        """Submit these sets."""

    def finished(self, seconds: float) -> list[PlayedTask]:
        """Return finished tasks. Wait at most `seconds` seconds for the first.

        Raises:
            LocalMatchError: a task or a process failed.
        """

    def slow(self) -> Iterable[SlowBot]:
        """Return the slow bots to report now."""


def versions(game: str, specs: Iterable[str]) -> tuple[str, ...]:
    """Create the bots. Return their versions.

    Raises:
        BotNotLoaded: a bot cannot be created.
    """
    return tuple(version_of(spec) if is_command(spec) else load(spec, GAMES[game]).version for spec in specs)


def default_concurrency(subject: Subject) -> int:
    """Return the default number of simultaneous games."""
    return GAMES_WITH_COMMANDS if any(map(is_command, subject.bots)) else os.cpu_count() or 1


def play_sets(
    subject: Subject,
    numbers: Sequence[int],
    workers: int,
    cluster: str | None = None,
    place: CommandPlace | None = None,
    report_slow: Callable[[SlowBot], None] = lambda _: None,
) -> Generator[PlayedSet, None, None]:
    """Play the numbered sets, and yield each when it is finished. Close the iterator to stop.

    The sets are played in `workers` processes or on `cluster`. If a bot is a command, this process plays several games
    at once, and `place` configures the commands. If all are house bots and `workers` is 1, this process plays the sets
    itself. `report_slow` is called with every slow bot while it is thinking. After the iterator has ended, for whatever
    reason, no other process is running.

    Raises:
        LocalMatchError: a bot or a worker process failed.
    """
    if any(map(is_command, subject.bots)):
        from arena.local.match.command_runner import play_sets_with_commands

        if cluster is not None:
            raise ClusterUnusable(cluster, "commands play on this machine only; name bots by their files")
        yield from play_sets_with_commands(subject, numbers, workers, place or CommandPlace(), report_slow)
    elif cluster is not None:
        from arena.local.match.dask_cluster import dask_cluster

        with dask_cluster(cluster, subject) as connected:
            yield from _spread(connected, numbers, report_slow)
    elif workers == 1 and all(bot.startswith(HOUSE) for bot in subject.bots):
        for number in numbers:
            yield play_set(subject, number)
    else:
        with Workers(workers, subject) as pool:
            yield from _spread(pool, numbers, report_slow)


def _spread(
    executor: TaskExecutor, numbers: Sequence[int], report_slow: Callable[[SlowBot], None]
) -> Iterator[PlayedSet]:
    """Submit tasks of about `TASK_SECONDS` as other tasks finish, and smaller tasks towards the end."""
    owed, begun, at_once = 0, 0, 1
    while True:
        while owed < AHEAD * executor.workers and begun < len(numbers):
            share = -(-(len(numbers) - begun) // (AHEAD * executor.workers))
            task = tuple(numbers[begun : begun + min(at_once, share)])
            begun += len(task)
            owed += 1
            executor.submit(task)
        if not owed:
            return
        for seconds, played in executor.finished(LOOK):
            owed -= 1
            at_once = min(MOST_SETS, max(1, round(TASK_SECONDS / max(1e-3, seconds / len(played)))))
            yield from played
        for slow in executor.slow():
            report_slow(slow)
