# Compiled: every decision passes through here.
"""A further process of a server, which holds the conversations of the bots connected to it and plays matches.

It forwards everything but answers to the first process. The first process decides which matches it plays, which
messages it sends to its bots, and when a conversation is over. It ends when the first process ends, for any reason.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import structlog
import trio

from arena.house import HOUSE_BOTS
from arena.replay.read import read_unfinished
from arena.server.matches.driver import MatchDriver
from arena.server.matches.house import House
from arena.server.matches.persistence import RETRY
from arena.server.processes.line import NUMBERS, ProcessLine
from arena.server.processes.remote_call import RemoteCall
from arena.server.processes.remote_match import MatchElsewhere, SeatedPlayer
from arena.server.processes.remote_session import RemoteSession
from arena.server.processes.told import tell_bot, tell_match
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.sessions.messages import NOT_STORING, STORING, Closed, Hello
from arena.server.sessions.player import BotPlayer
from arena.server.sessions.session import Session
from arena.server.workers.pool import WorkerPool
from arena.store.base.errors import StoreError, StoreReplaced
from arena.store.journal.journal import open_further_journal
from engine.deal import match_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.processes.channel import Channel
    from arena.replay.header import Header
    from arena.server.processes.line import ProcessCall
    from arena.server.processes.task import Task
    from arena.server.sessions.messages import BotMessage, Link, MessageCodec
    from arena.server.sessions.session import Sent
    from engine.game import RoundReport
    from trio_grpc.grpc.call import Stream
    from trio_grpc.http2.sharing import Sockets
    from trio_grpc.limits.connection_limits import Origin

WATCHED: Final = 0.5
"""Seconds between checks of the journal's file."""

log = structlog.get_logger(__name__)


class ServedCall:
    """A bot's call of `Play`, and the session that it may become."""

    def __init__(self, number: int, stream: Stream[bytes, bytes]) -> None:
        self.number = number
        self.stream = stream
        self.session: Session | None = None
        self.bot_player: BotPlayer | None = None
        self.begun = trio.Event()
        self.closed = trio.Event()
        self.end: tuple[str, str, bytes] | None = None
        """The status with which the call is closed, with text and details; None for OK."""


class Further:
    """The sessions and matches of this process."""

    def __init__(self, task: Task, codec: MessageCodec, channel: Channel) -> None:
        """`channel` leads to the first process. Raises: StoreUnusable."""
        self._task = task
        self._codec = codec
        self._journal = open_further_journal(task.data, task.number)
        self.turns = Turns(self._journal.commit, RETRY, self._tell_of_storage)
        self.timers = Timers()
        self.line = ProcessLine(channel, self.turns, self.timers.watch)
        self._pool = WorkerPool(task.house_workers, self.turns)
        self._house = House(HOUSE_BOTS, {}, {game: [] for game in task.games}, {})
        self._numbers = count(task.number << NUMBERS)
        self._calls: dict[int, ServedCall] = {}
        self._bots: dict[int, BotPlayer] = {}
        self._prepared: dict[int, Header] = {}
        self._drivers: dict[int, MatchDriver] = {}
        self._nursery: trio.Nursery
        self._sockets: Sockets
        self._listening = trio.Event()

    def listening(self, sockets: Sockets) -> None:
        """Begin to receive messages from the first process."""
        self._sockets = sockets
        self._listening.set()

    async def run(self) -> None:
        """Serve bots and play matches until the first process ends."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for each in (self.turns.run, self.timers.run, self._pool.run, self._beat, self._watch):
                nursery.start_soon(each)
            await self._listening.wait()
            await self.line.run(self._take, self._sockets)
            nursery.cancel_scope.cancel()

    async def serve(self, stream: Stream[bytes, bytes], token: str) -> tuple[str, str, bytes] | None:
        """Serve a bot's call until the first process closes it; return the status, text and details, or None for OK."""
        number = next(self._numbers)
        call = self._calls[number] = ServedCall(number, stream)
        self.line.call("session", number, "opened", token, stream.peer, self.line.told(stream.received_at))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, call)
                await call.closed.wait()
                nursery.cancel_scope.cancel()
        finally:
            del self._calls[number]
            if (bot_player := call.bot_player) is not None:
                if bot_player.session is call.session:
                    bot_player.session = None
                self._release(bot_player)
        return call.end

    def connection_closed(self, origin: Origin) -> None:
        """Report that a connection was closed."""
        self.line.call("process", 0, "closed", origin)

    async def _listen(self, call: ServedCall) -> None:
        """Receive a bot's messages until its last, and report how the stream ended."""
        end: tuple[str, str, float | None] | None = ("vanished", "", None)
        try:
            message = await call.stream.receive()
            if message is None:
                raise trio.BrokenResourceError
            self.line.call("session", call.number, "hello", message)
            await call.begun.wait()
            assert call.session is not None, "it has begun"
            await call.session.run(partial(self._hear, call))
            end = ("", "", None)
        except trio.BrokenResourceError:
            pass
        except Closed as closed:
            end = (closed.reason.name, str(closed), closed.wait)
        except trio.Cancelled:
            end = None  # the first process has closed the call, or this process ends; the bot itself has not left
            raise
        finally:
            if end is not None:
                self.line.call("session", call.number, "ended", *end)

    def _hear(self, call: ServedCall, message: BotMessage) -> None:
        """Handle one message of a bot: one turn."""
        number, session, bot_player = call.number, call.session, call.bot_player
        assert session is not None, "it has begun"
        assert bot_player is not None, "it has begun"
        if message.heartbeat is not None:
            session.beaten(message.at, message.heartbeat)
            self.line.call_soon("session", number, "measured", session.round_trip)
        if message.capacity is not None:
            session.capacity = message.capacity
        if message.answers or message.resumed:
            bot_player.playing.hear(bot_player, message)
        if message.ready or message.declined or message.capacity is not None or message.leaves:
            ready = [tuple(each) for each in message.ready]
            at, declined = self.line.told(message.at), list(message.declined)
            self.line.call("session", number, "heard", at, ready, declined, message.capacity, message.leaves)

    async def _beat(self) -> None:
        while True:
            await trio.sleep(self._task.heartbeat)
            for call in self._calls.values():
                if call.session is not None:
                    call.session.beat(trio.current_time())

    async def _watch(self) -> None:
        """Report when the journal is deleted or replaced."""
        try:
            while True:
                self._journal.check()
                await trio.sleep(WATCHED)
        except StoreReplaced as error:
            self.line.call_at_once("process", 0, "replaced", str(error.path))

    def _take(self, calls: Sequence[ProcessCall]) -> None:
        """Handle the calls of the first process in one turn."""
        for to, number, method, arguments in calls:
            if to == "match":
                if (driver := self._drivers.get(number)) is not None:
                    self._to_match(driver, method, arguments)
            elif to == "session":
                if (call := self._calls.get(number)) is not None:
                    self._to_session(call, method, arguments)
            else:
                getattr(self, f"_process_{method}")(number, *arguments)

    def _to_match(self, driver: MatchDriver, method: str, arguments: tuple[Any, ...]) -> None:
        """Forward an event that arrived in another process to a match."""
        match method, arguments:
            case "left", (bot_id, at, in_order):
                if (bot_player := self._bots.get(bot_id)) is not None and driver.seats(bot_player):
                    if not in_order:
                        bot_player.session = None
                    driver.left(self.line.heard(at), bot_player, in_order)
            case "cut_off", (lost, at):
                for bot_id in lost:
                    if (bot_player := self._bots.get(bot_id)) is not None:
                        bot_player.session, bot_player.lost = None, True
                driver.cut_off(self.line.heard(at))
            case "returned", (bot_id, at, session):
                if (bot_player := self._bots.get(bot_id)) is not None and driver.seats(bot_player):
                    bot_player.session, bot_player.lost = self._session(bot_player, session), False
                    driver.returned(self.line.heard(at), bot_player)
            case _:
                tell_match(driver, self._bots.get, self.line, method, arguments)

    def _to_session(self, call: ServedCall, method: str, arguments: tuple[Any, ...]) -> None:
        """Handle a call from the first process that is addressed to a session of this process."""
        session = call.session
        match method, arguments:
            case "trust", ():
                call.stream.trust()
            case "begin", (bot_id, name, capacity):
                link: Link = call.stream
                hello = Hello((), capacity, "")
                call.session = Session(link, self._codec, hello, self.turns, self._task.limits)
                call.session.number = call.number
                call.bot_player = self._bot(bot_id, name, "")
                call.bot_player.session = call.session
                call.begun.set()
            case "closed", (end,):
                call.end = end
                call.closed.set()
            case "tell", (encoded,) if session is not None:
                session.tell_encoded(encoded)
            case "leave", () if session is not None:
                session.leave()
            case "say", (_, _, started, reported, _) if session is not None and call.bot_player is not None:
                matches = call.bot_player.playing.running
                for match_id in started:
                    matches.setdefault(match_id, MatchElsewhere(match_id, self.line))
                tell_bot(session, partial(self._sent_to, call.bot_player), method, arguments)
                for match_id in reported:
                    if isinstance(matches.get(match_id), MatchElsewhere):
                        call.bot_player.playing.end(match_id)
            case _ if session is not None and call.bot_player is not None:
                tell_bot(session, partial(self._sent_to, call.bot_player), method, arguments)

    def _sent_to(self, bot_player: BotPlayer, match_id: int) -> Sent | None:
        match = bot_player.playing.running.get(match_id)
        return match.sent if isinstance(match, MatchElsewhere) else None

    def _process_prepare(self, match_id: int, line: str) -> None:
        """Store the beginning of a match."""
        wrong = ""
        try:
            header, _ = read_unfinished([line], f"the header of match {match_id}")
            self._journal.begin(header)
            self._prepared[match_id] = header
        except StoreError as error:
            wrong = str(error)
        self.line.call("process", match_id, "prepared", wrong)

    def _process_play(self, match_id: int, seats: Sequence[SeatedPlayer], charged: bool) -> None:
        """Play a match whose beginning is stored."""
        header = self._prepared.pop(match_id)
        players = self._house.take_up(header, seats, self._bot)
        for seat, player in zip(seats, players, strict=True):
            if isinstance(player, BotPlayer):
                player.session, player.lost = self._session(player, seat.session), seat.lost
        driver = MatchDriver(
            header.new_match(),
            header,
            players,
            self._house.stand_in(header.game.name),
            match_key(header.seed, header.nonces),
            self._pool,
            self._journal,
            self.timers.watch,
            charged,
            self._round_over,
        )
        self._drivers[match_id] = driver
        driver.begin()
        self._nursery.start_soon(self._finish, driver)

    def _round_over(self, match_id: int, report: RoundReport) -> None:
        self.line.call("process", match_id, "round_over", report)

    async def _finish(self, driver: MatchDriver) -> None:
        """Wait for the end of a match and report it."""
        over, fault = await driver.played(), ""
        draft: tuple[Any, ...] = ()
        try:
            draft = tuple(driver.draft())
        except Exception as error:
            log.exception("a match could not be recorded", match_id=driver.match_id)
            fault = repr(error)
        self.timers.forget(driver)
        self.line.call(
            "process",
            driver.match_id,
            "over",
            tuple(over),
            draft,
            fault,
            [tuple(each) for each in driver.thinking],
            (driver.owed.decisions, driver.owed.times),
            driver.last_match.seconds,
            [each.value for each in driver.forced],
            list(driver.due_so_far),
        )

    def _process_freeze(self, match_id: int) -> None:
        if (driver := self._drivers.get(match_id)) is not None:
            driver.freeze()

    def _process_stored(self, match_id: int) -> None:
        """Release a match that is over and stored, or that does not begin."""
        self._prepared.pop(match_id, None)
        self._journal.forget(match_id)
        if (driver := self._drivers.pop(match_id, None)) is not None:
            driver.dissolve()
            for player in driver.players:
                if isinstance(player, BotPlayer):
                    self._release(player)

    def _bot(self, bot_id: int, name: str, owner: str) -> BotPlayer:
        """Return the bot with a number, created if unknown."""
        if (bot_player := self._bots.get(bot_id)) is None:
            bot_player = self._bots[bot_id] = BotPlayer(bot_id, name, owner, lambda _: None)
        return bot_player

    def _release(self, bot_player: BotPlayer) -> None:
        """Forget a bot that is not connected here and plays nothing here."""
        connected = any(call.bot_player is bot_player for call in self._calls.values())
        if not connected and not any(isinstance(each, MatchDriver) for each in bot_player.playing.running.values()):
            self._bots.pop(bot_player.bot_id, None)

    def _session(self, bot_player: BotPlayer, number: int) -> Session | None:
        """Return a bot's session if the session has this number; otherwise None."""
        if not number:
            return None
        if (call := self._calls.get(number)) is not None:
            return call.session
        if bot_player.session is not None and bot_player.session.number == number:
            return bot_player.session
        elsewhere = RemoteCall(self.line, number, "", "another process", trio.current_time())
        return RemoteSession(elsewhere, self._codec, Hello((), 0, ""), self.turns, self.line, number)

    def _tell_of_storage(self, error: StoreError | None) -> None:
        """Notify every bot here that the server can neither store nor send anything, or that it can again."""
        self.line.call_at_once("process", 0, "storing", "" if error is None else str(error))
        notice = STORING if error is None else NOT_STORING
        for bot_player in self._bots.values():
            if bot_player.session is not None:
                bot_player.session.tell(notice)
