"""Plays the sets of a comparison, in worker processes, in this one, or on a Dask cluster.

Sets come in the order in which they are finished. A task is some sets that take one to two seconds together, and
depends on nothing but the subject and the sets' numbers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from arena.local.commands.spec import is_command, version_of
from arena.local.errors import BotFailed, BotNotLoaded, ClusterUnusable, WorkerDied
from arena.local.match.dask_cluster import dask_cluster
from arena.local.match.replays import match_number
from arena.local.match.sets import PlayedSet, SeatedGame, Subject
from arena.local.play.players import absolute, forget, load
from arena.local.play.table import play_game
from arena.local.server.place import CommandPlace
from engine.registry import GAMES

if TYPE_CHECKING:
    from arena.local.match.dask_cluster import Cluster
    from arena.local.play.players import LocalPlayer

TASK_SECONDS: Final = 1.5
MOST_SETS: Final = 500
"""Sets of a task at most."""
SILENCE: Final = 5.0
"""Seconds without a finished task after which somebody looks whether there are workers."""
GAMES_WITH_COMMANDS: Final = 8
"""Games at once where bots are commands: as many as a bot of the SDK plays unless it says otherwise."""
AHEAD: Final = 2
"""Tasks for each worker that are begun or wait."""

PlayedTask: TypeAlias = tuple[float, list[PlayedSet]]
"""Seconds that a task took, and its sets."""
PlayTask: TypeAlias = Callable[[Subject, Sequence[int]], PlayedTask]

_players: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[LocalPlayer]] = {}
"""In a worker, the players by what they compare: they are made once."""
_in_turn: Final = threading.Lock()


def _cached(subject: Subject) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return subject.game, subject.bots, subject.versions


def versions(game: str, specs: Iterable[str]) -> tuple[str, ...]:
    """Return the versions of bots, which are made for it. BotNotLoaded."""
    return tuple(version_of(spec) if is_command(spec) else load(spec, GAMES[game]).version for spec in specs)


def default_concurrency(subject: Subject) -> int:
    """Return how many games are played at once unless somebody says otherwise."""
    return GAMES_WITH_COMMANDS if any(map(is_command, subject.bots)) else os.cpu_count() or 1


def play_set(subject: Subject, number: int) -> PlayedSet:
    """Play one set in this process. BotNotLoaded, also where a bot is another version here; BotFailed."""
    game = GAMES[subject.game]
    players = _players.get(_cached(subject))
    if players is None:
        players = [load(spec, game) for spec in subject.bots]
        for spec, player, version in zip(subject.bots, players, subject.versions, strict=True):
            if player.version != version:
                raise BotNotLoaded(spec, f"it is version {player.version} here, and the match is about {version}")
        _players[_cached(subject)] = players
    games = []
    plans = subject.planned(number)
    for at, plan in enumerate(plans):
        table = [players[bot] for bot in plan.bots]
        try:
            played = play_game(game, subject.options, plan.key, table, match_number(number, at, len(plans)))
        except BotFailed as error:
            spec = subject.bots[plan.bots[error.seat]]
            raise BotFailed(spec, error.seat, f"{error.where} of set {number}", error.trace) from None
        games.append(SeatedGame(plan.bots, played))
    return PlayedSet(number, tuple(games))


def play_sets(
    subject: Subject,
    numbers: Sequence[int],
    workers: int,
    cluster: str | None = None,
    place: CommandPlace | None = None,
) -> Generator[PlayedSet, None, None]:
    """Play sets in so many processes, or on a Dask cluster; close the iterator to stop.

    Where a bot is a command, one process plays so many games at once, and commands run as `place` says. Raises what
    `play_set` does, WorkerDied and ClusterUnusable.
    """
    if any(map(is_command, subject.bots)):
        from arena.local.match.command_runner import play_sets_with_commands

        if cluster is not None:
            raise ClusterUnusable(cluster, "commands play on this machine only; name bots by their files")
        yield from play_sets_with_commands(subject, numbers, workers, place or CommandPlace())
    elif cluster is not None:
        with dask_cluster(cluster) as connected:
            yield from _on_cluster(subject, numbers, connected, cluster)
    elif workers == 1:
        for number in numbers:
            yield play_set(subject, number)
    else:
        with _pool(workers) as pool:
            try:
                yield from _spread(pool, workers, _play, subject, numbers)
            except BrokenProcessPool:
                raise WorkerDied from None


def _spread(
    executor: Executor,
    workers: int,
    play: PlayTask,
    subject: Subject,
    numbers: Sequence[int],
    silent: Callable[[], None] | None = None,
) -> Iterator[PlayedSet]:
    """Hand out tasks of about `TASK_SECONDS` as they are finished, smaller ones towards the end.

    `silent` is called where none was finished for a while.
    """
    running: set[Future[PlayedTask]] = set()
    begun, at_once = 0, 1
    try:
        while True:
            while len(running) < AHEAD * workers and begun < len(numbers):
                share = -(-(len(numbers) - begun) // (AHEAD * workers))
                task = numbers[begun : begun + min(at_once, share)]
                begun += len(task)
                running.add(executor.submit(play, subject, tuple(task)))
            if not running:
                return
            done, running = wait(running, None if silent is None else SILENCE, return_when=FIRST_COMPLETED)
            if not done and silent is not None:
                silent()
            while done:
                seconds, played = done.pop().result()  # and so the future is let go
                at_once = min(MOST_SETS, max(1, round(TASK_SECONDS / max(1e-3, seconds / len(played)))))
                yield from played
    finally:
        for future in running:
            future.cancel()


def _on_cluster(subject: Subject, numbers: Sequence[int], cluster: Cluster, address: str) -> Iterator[PlayedSet]:
    """Play on a cluster, whose workers find a bot's file under the same path."""
    from distributed import KilledWorker

    bots = ", ".join(dict.fromkeys(subject.bots))
    workers = cluster.workers()
    if not workers:
        raise ClusterUnusable(address, f"it has no workers: start some with `dask worker {address} --nthreads 1`")

    def silent() -> None:
        if not cluster.workers():
            raise ClusterUnusable(address, f"its workers are gone; perhaps one of {bots} crashed them")

    there = replace(subject, bots=tuple(map(absolute, subject.bots)))
    try:
        yield from _spread(cluster.executor, workers, play_in_turn, there, numbers, silent)
    except KilledWorker as error:
        raise ClusterUnusable(address, f"a task ended its workers: one of {bots} crashed them ({error})") from error
    except (CancelledError, OSError):
        raise ClusterUnusable(address, "the scheduler is gone, and with it what was not finished") from None
    except (ImportError, AttributeError, TypeError) as error:
        why = f"a worker cannot play: {error}. It needs this version of the arena, and the client where a bot uses it"
        raise ClusterUnusable(address, why) from error


def play_in_turn(subject: Subject, numbers: Sequence[int]) -> PlayedTask:
    """Play a task in a process that others use, too: one at a time, and with the bots as they are now."""
    with _in_turn:
        if _cached(subject) not in _players:
            _players.clear()
            forget()
        return _play(subject, numbers)


def _play(subject: Subject, numbers: Sequence[int]) -> PlayedTask:
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
