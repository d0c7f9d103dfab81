"""Plays sets of games in which bots are commands.

A private server runs in a thread of this process, and each command in its own process.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from typing import Final, NamedTuple, TypeAlias

import structlog
import trio
from arena_client.v1 import play_pb2_grpc

from arena.api.play_service import PlayService
from arena.api.statuses import ERROR_DOMAIN
from arena.local.commands.spec import names_of
from arena.local.errors import LocalMatchError
from arena.local.match.replays import match_number
from arena.local.match.sets import PlayedSet, SeatedGame, Subject
from arena.local.match.thinking import LOOK, SlowBot, SlowBots, ThinkingBot
from arena.local.play.players import HOUSE, house_bot
from arena.local.server.command_bot import (
    CommandBot,
    CommandFolder,
    CommandPlace,
    end_all,
    opened_folder,
    started_for,
    told,
)
from arena.local.server.director import DecisionsLeft, Director, GivenDeal, OwedDecision
from arena.local.server.host import LocalHost, beat
from arena.match.policy import Policy
from arena.server.config import Config, LadderTable
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.sessions.player import HousePlayer, Player
from engine.deal import NONCE_BYTES
from engine.registry import GAMES
from trio_grpc.grpc.server import Service, serve

LEAVE: Final = 5.0
"""Number of seconds to wait until a bot that does not answer has ended."""

Told: TypeAlias = "PlayedSet | SlowBot | BaseException | None"
"""A report from the server's thread: a played set, a slow bot, a fatal error, or None at the thread's end."""


def play_sets_with_commands(
    subject: Subject,
    numbers: Iterable[int],
    at_once: int,
    place: CommandPlace,
    report_slow: Callable[[SlowBot], None] = lambda _: None,
) -> Generator[PlayedSet, None, None]:
    """Play sets, several games at once. Close the iterator to stop.

    After the iterator has ended, for whatever reason, no command is running. `report_slow` works as in `play_sets`.

    Raises:
        CommandNotStarted: a command cannot be started.
        CommandFailed: a command ended or left a decision to the referee.
        LocalMatchError: the match cannot be played.
    """
    said: SimpleQueue[Told] = SimpleQueue()
    table = _Tables(subject, at_once, place, said)
    thread = threading.Thread(target=table.run, args=(numbers,), name="arena-match")
    thread.start()
    try:
        while (each := said.get()) is not None:
            if isinstance(each, BaseException):
                raise each
            if isinstance(each, SlowBot):
                report_slow(each)
            else:
                yield each
    finally:
        table.stop()
        thread.join()


class _Silence(NamedTuple):
    """A period in which a bot owes decisions and answers none of them."""

    owed: frozenset[OwedDecision]
    first: OwedDecision
    """One of the decisions that the bot has owed since the period began."""
    since: float
    """Start of the period, in seconds of `time.perf_counter`."""


class _Tables:
    """The private server with its bots."""

    def __init__(self, subject: Subject, at_once: int, place: CommandPlace, said: SimpleQueue[Told]) -> None:
        self._subject = subject
        self._at_once = at_once
        self._place = place
        self._said = said
        self._names = names_of(subject.bots)
        game = GAMES[subject.game]
        limit = round(place.decision_limit * 1e6)
        policy = Policy(soft_limit=limit, bank=0, rejections_per_decision=1, lates_in_a_row=1, newcomer_grace=limit)
        self._config = Config(
            (LadderTable(game, (subject.seats,), subject.options),), policy=policy, ready_limit=place.hello_limit
        )
        self._stopped = threading.Event()

    def run(self, numbers: Iterable[int]) -> None:
        """Play the sets in the calling thread, and report the results."""
        with _quiet():
            try:
                trio.run(self._run, numbers)
            except BaseException as error:  # noqa: BLE001 - raised again by the reader
                self._said.put(_first(error))
        self._said.put(None)

    def stop(self) -> None:
        """Stop playing. Another thread calls this method."""
        self._stopped.set()

    async def _run(self, numbers: Iterable[int]) -> None:
        if self._stopped.is_set():
            return
        turns, timers = Turns(lambda: None, 1.0), Timers()
        seats = [place for place, spec in enumerate(self._subject.bots) if not spec.startswith(HOUSE)]
        host = LocalHost(self._config, [self._names[place] for place in seats], turns)
        director = Director(host, turns, timers)
        service = Service(play_pb2_grpc.add_PlayServiceServicer_to_server, PlayService(host), as_bytes=True)
        with opened_folder(self._place) as folder:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(turns.run)
                nursery.start_soon(timers.run)
                nursery.start_soon(beat, lambda: host.players, self._config.heartbeat)
                serving = partial(serve, [service], folder.address, turn=turns, error_domain=ERROR_DOMAIN)
                await nursery.start(serving)
                if self._place.sandbox is not None:
                    self._place.sandbox.admit(folder.path, folder.socket)
                bots = self._bots(seats, host, folder)
                try:
                    for bot in bots:
                        bot.start()
                    await self._play(numbers, director, host, bots)
                finally:
                    with trio.CancelScope(shield=True):
                        # let the bots end cleanly while the server is still listening
                        await trio.to_thread.run_sync(end_all, bots)
                nursery.cancel_scope.cancel()

    async def _play(
        self, numbers: Iterable[int], director: Director, host: LocalHost, bots: Sequence[CommandBot]
    ) -> None:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._cancel_when_stopped, nursery.cancel_scope)
                for bot in bots:
                    nursery.start_soon(bot.watch)
                with trio.move_on_after(self._place.hello_limit) as hello:
                    await host.until(lambda: all(player.session is not None for player in host.players))
                if hello.cancelled_caught:
                    missing = next(bot for bot in bots if bot.player.session is None)
                    raise missing.failed(f"has not connected to $ARENA_SERVER within {self._place.hello_limit:g} s")
                nursery.start_soon(director.look)
                nursery.start_soon(self._report_slow, director, bots)
                await self._play_sets(numbers, director, bots)
                nursery.cancel_scope.cancel()
        except* DecisionsLeft as group:
            left = _first(group)
            assert isinstance(left, DecisionsLeft), "that is what the group has"
            bot = next(bot for bot in bots if bot.player is left.player)
            await trio.to_thread.run_sync(bot.raise_if_ended, LEAVE)
            limit = f"{self._place.decision_limit:g} s"
            why = f"left a decision of match {left.match_id} to the referee: no legal answer within {limit}"
            raise bot.failed(why) from None

    async def _cancel_when_stopped(self, playing: trio.CancelScope) -> None:
        await trio.to_thread.run_sync(self._stopped.wait, abandon_on_cancel=True)
        playing.cancel()

    async def _report_slow(self, director: Director, bots: Sequence[CommandBot]) -> None:
        """Report the bots that have owed decisions for a long time."""
        slow_bots, games = SlowBots(self._subject), len(self._subject.planned(0))
        silent: dict[int, _Silence] = {}
        while True:
            await trio.sleep(LOOK)
            now = perf_counter()
            for bot in bots:
                owed, before = director.owed(bot.player), silent.pop(bot.place, None)
                if before is not None and before.owed <= owed:
                    silent[bot.place] = before._replace(owed=owed)
                elif owed:
                    silent[bot.place] = _Silence(owed, min(owed), now)
            thinking = [
                ThinkingBot(*divmod(each.first.match_id - 1, games), each.first.seat, each.since)
                for each in silent.values()
            ]
            for slow in slow_bots.due(thinking, now):
                self._said.put(slow)

    async def _play_sets(self, numbers: Iterable[int], director: Director, bots: Sequence[CommandBot]) -> None:
        by_spec = {bot.place: bot.player for bot in bots}
        players = [
            by_spec.get(place) or HousePlayer(-place, house_bot(spec, self._config.games[0]))
            for place, spec in enumerate(self._subject.bots)
        ]
        room = trio.Semaphore(max(1, self._at_once // len(self._subject.planned(0))))
        async with trio.open_nursery() as nursery:
            for number in numbers:
                await room.acquire()
                nursery.start_soon(self._play_set, director, players, number, room)

    async def _play_set(self, director: Director, players: Sequence[Player], number: int, room: trio.Semaphore) -> None:
        subject = self._subject
        plans = subject.planned(number)
        games: dict[int, SeatedGame] = {}

        async def play(at: int) -> None:
            plan = plans[at]
            deal = GivenDeal(plan.seed, (bytes(NONCE_BYTES),) * subject.seats)
            seated = [players[bot] for bot in plan.bots]
            games[at] = SeatedGame(
                plan.bots, (await director.play(deal, seated, match_number(number, at, len(plans)))).played
            )

        async with trio.open_nursery() as nursery:
            for at in range(len(plans)):
                nursery.start_soon(play, at)
        room.release()
        self._said.put(PlayedSet(number, tuple(games[at] for at in range(len(plans)))))

    def _bots(self, seats: Sequence[int], host: LocalHost, folder: CommandFolder) -> list[CommandBot]:
        subject = self._subject
        return [
            CommandBot(
                place,
                player,
                subject.bots[place],
                started_for(subject.bots[place], subject.game, self._at_once),
                told(folder.address, token, boxed=self._place.sandbox is not None),
                folder.path,
                folder.log(self._names[place]),
                self._place.sandbox,
            )
            for place, player, token in zip(seats, host.players, host.tokens, strict=True)
        ]


def _first(error: BaseException) -> BaseException:
    """Return an exception, or from a group the first one with a message for the bot's author, if there is one."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_first(each) for each in error.exceptions]
    return next((each for each in leaves if isinstance(each, LocalMatchError)), leaves[0])


@contextmanager
def _quiet() -> Iterator[None]:
    """Restrict the private server's log to errors, unless the program has set up logging itself."""
    if structlog.is_configured():
        yield
        return
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        yield
    finally:
        structlog.reset_defaults()
