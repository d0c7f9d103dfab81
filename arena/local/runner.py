"""Plays the sets of a comparison, in worker processes or in this one.

Sets come in the order in which they are finished. A task is some sets that take about a second together, and depends on
nothing but the subject and the sets' numbers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final

from arena.local.commands.place import CommandPlace
from arena.local.commands.spec import is_command, version_of
from arena.local.design import planned
from arena.local.errors import BotFailed, WorkerDied
from arena.local.players import load
from arena.local.sets import PlayedSet, SeatedGame, Subject
from arena.local.table import play_game
from engine.registry import GAMES

if TYPE_CHECKING:
    from arena.local.players import LocalPlayer

TASK_SECONDS: Final = 1.0
MOST_SETS: Final = 100
"""Sets of a task at most."""
GAMES_WITH_COMMANDS: Final = 8
"""Games at once where bots are commands: as many as a bot of the SDK plays unless it says otherwise."""
AHEAD: Final = 2
"""Tasks for each worker that are begun or wait."""

_players: dict[tuple[str, tuple[str, ...]], list[LocalPlayer]] = {}
"""In a worker, the players by what they compare: they are made once."""


def versions(game: str, specs: Iterable[str]) -> tuple[str, ...]:
    """Return the versions of bots, which are made for it. BotNotLoaded."""
    return tuple(version_of(spec) if is_command(spec) else load(spec, GAMES[game]).version for spec in specs)


def default_concurrency(subject: Subject) -> int:
    """Return how many games are played at once unless somebody says otherwise."""
    return GAMES_WITH_COMMANDS if any(map(is_command, subject.bots)) else os.cpu_count() or 1


def play_set(subject: Subject, number: int) -> PlayedSet:
    """Play one set in this process. BotNotLoaded, BotFailed."""
    game = GAMES[subject.game]
    key = (subject.game, subject.bots)
    players = _players.get(key)
    if players is None:
        players = _players[key] = [load(spec, game) for spec in subject.bots]
    games = []
    for at, plan in enumerate(planned(subject.design, subject.seats, number, subject.seed)):
        table = [players[bot] for bot in plan.bots]
        try:
            played = play_game(game, subject.options, plan.key, table, 2 * number + at + 1)
        except BotFailed as error:
            spec = subject.bots[plan.bots[error.seat]]
            raise BotFailed(spec, error.seat, f"{error.where} of set {number}", error.trace) from None
        games.append(SeatedGame(plan.bots, played))
    return PlayedSet(number, tuple(games))


def play_sets(
    subject: Subject, numbers: Iterable[int], workers: int, place: CommandPlace | None = None
) -> Generator[PlayedSet, None, None]:
    """Play sets, each when it is its turn; close the iterator to stop. Raises what `play_set` does.

    Where a bot is a command, one process plays so many games at once, and commands run as `place` says.
    """
    if any(map(is_command, subject.bots)):
        from arena.local.commands.runner import play_sets_with_commands

        yield from play_sets_with_commands(subject, numbers, workers, place or CommandPlace())
        return
    left = iter(numbers)
    if workers == 1:
        for number in left:
            yield play_set(subject, number)
        return
    with _pool(workers) as pool:
        running: set[Future[tuple[float, list[PlayedSet]]]] = set()
        at_once = 1
        while True:
            while len(running) < AHEAD * workers and (task := list(islice(left, at_once))):
                running.add(pool.submit(_play, subject, task))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    seconds, played = future.result()
                except BrokenProcessPool:
                    raise WorkerDied from None
                at_once = min(MOST_SETS, max(1, round(TASK_SECONDS / max(1e-3, seconds / len(played)))))
                yield from played


def _play(subject: Subject, numbers: list[int]) -> tuple[float, list[PlayedSet]]:
    began = time.perf_counter()
    played = [play_set(subject, number) for number in numbers]
    return time.perf_counter() - began, played


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _begin)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """Leave Ctrl-C to the process that started this one, which says how to go on; and end when that ends, however."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has one"
    parent.join()
    os._exit(1)
