# Compiled: every decision passes through here.
"""The further processes of a server, as seen by its first process: their connections, matches and results.

The first process gives them connections and matches, and takes over the matches of a process that ends. It also
forwards messages between two of them if a bot is connected to one and plays in the other.
"""

from __future__ import annotations

import secrets
from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import structlog
import trio

from arena.processes.helper import HelperFailed, helper, keep
from arena.replay.lines import header_line
from arena.server.processes.line import NUMBERS, ProcessLine
from arena.server.processes.remote_call import RemoteCall
from arena.server.processes.remote_match import RemoteMatch
from arena.server.processes.task import Task
from arena.server.processes.told import tell_bot, tell_match
from arena.server.sessions.messages import BotMessage, Closed, Ready, Reason
from arena.server.sessions.player import BotPlayer, cut_off
from arena.store.base.errors import StoreReplaced, StoreUnusable
from arena.store.journal.journal import JournalContent, journal_of, read_further_journal, remove_further_journal
from trio_grpc.grpc.call import CallRefused, PeerVanished
from trio_grpc.http2 import sharing

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Sequence

    from arena.replay.header import Header
    from arena.server.config import Config
    from arena.server.matches.seated_match import SeatedMatch
    from arena.server.processes.line import ProcessCall
    from arena.server.processes.told import MatchHere
    from arena.server.runtime.timers import Timers
    from arena.server.runtime.turns import Turns
    from arena.server.sessions.player import Player
    from arena.server.sessions.players import Players
    from arena.server.sessions.session import Sent, Session
    from engine.game import RoundReport
    from trio_grpc.http2.proxy_protocol import PeerAddress
    from trio_grpc.http2.sharing import Sockets
    from trio_grpc.limits.connection_limits import Origin

MODULE: Final = "arena.api.further_process"
FIRST: Final = 1
"""Number of the first process."""
LONG_ENOUGH: Final = 10.0
"""A process that ran for this many seconds before it ended is restarted at once, because its start worked."""

log = structlog.get_logger(__name__)
_chance: Final = secrets.SystemRandom()


class PlayedMatches(Protocol):
    """Interface to the server's matches for the further processes."""

    def get(self, match_id: int) -> SeatedMatch | None:
        """Return a match that is being played in any process; None if no match has this number."""

    async def take_over(self, left: Sequence[RemoteMatch], content: JournalContent) -> None:
        """Continue here the matches of a process that ended, from the content of its journal."""

    def round_over(self, match_id: int, report: RoundReport) -> None:
        """Publish a round."""


class FurtherProcess:
    """One running further process."""

    def __init__(
        self,
        number: int,
        line: ProcessLine,
        giving: socket.socket,
        pid: int,
        journal: Path,
        orphaned: Callable[[RemoteMatch], None],
    ) -> None:
        """If the process ends, `orphaned` is called with each match that was about to begin in it."""
        self.orphaned = orphaned
        self.storing = True
        """True if, by its last report, the process can write its journal."""
        self.number = number
        self.journal = journal
        """The folder of the process's journal."""
        self.line = line
        self.giving = giving
        """The socket through which the process receives connections."""
        self.pid = pid
        self.connections: Counter[Origin] = Counter()
        """Number of connections that the process serves, by origin."""
        self.calls: dict[int, RemoteCall] = {}
        self.matches: dict[int, RemoteMatch] = {}
        self.prepared: dict[int, tuple[trio.Event, list[str]]] = {}
        """Matches whose beginning the process is storing, each with an event for the reply and a list for errors.
        """

    async def begin(self, header: Header) -> None:
        """Have the process store the beginning of a match in its journal. Raises: StoreUnusable."""
        done, wrong = trio.Event(), list[str]()
        self.prepared[header.match_id] = done, wrong
        self.line.call("process", header.match_id, "prepare", header_line(header))
        try:
            await done.wait()
        finally:
            self.prepared.pop(header.match_id, None)
        if wrong:
            raise StoreUnusable(self.journal, wrong[0])

    def forget(self, match_id: int) -> None:
        """Have the process forget a match whose beginning it has stored, because the match does not begin."""
        self.line.call("process", match_id, "stored")

    def play(self, header: Header, players: Sequence[Player], charged: bool, stand_in: str) -> RemoteMatch:
        """Have the process play a match whose beginning it has stored.

        If it has ended, the first process plays the match.
        """
        match = RemoteMatch(header, players, charged, self.line, stand_in)
        if self.line.over:
            self.orphaned(match)
        else:
            self.matches[header.match_id] = match
        return match


class FurtherProcesses:
    """All further processes: starts them, restarts them, and gives them work."""

    def __init__(self, config: Config, lock: int, players: Players, turns: Turns, timers: Timers) -> None:
        """`lock`: the descriptor of the data directory's lock, which the further processes hold, too."""
        self._config = config
        self._lock = lock
        self._players = players
        self._turns = turns
        self._timers = timers
        self._up: dict[int, FurtherProcess] = {}
        self._own: dict[int, Session] = {}
        """The sessions of the first process, by number."""
        self._numbers = count(FIRST << NUMBERS)
        self._serves = False
        self._sockets: Sockets
        self._listening = trio.Event()
        self._replaced = trio.Event()
        self._file = Path()
        self._matches: PlayedMatches
        self._play: Callable[[RemoteCall], Awaitable[None]]
        self._nursery: trio.Nursery

    def open(self, matches: PlayedMatches) -> None:
        """Set the server's matches; call this before `run`."""
        self._matches = matches

    def serve(self, play: Callable[[RemoteCall], Awaitable[None]]) -> None:
        """Set the function that answers calls of `Play`; from then on connections are given away."""
        self._play = play
        self._serves = True

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the processes running until cancelled; started once all are up. Raises: RuntimeError, StoreReplaced."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            up = [trio.Event() for _ in range(self._config.processes - 1)]
            for number, event in enumerate(up, FIRST + 1):
                nursery.start_soon(keep, partial(self._run_one, number, event))
            for event in up:
                await event.wait()
            task_status.started()
            await self._replaced.wait()
            raise StoreReplaced(self._file)

    @property
    def storing(self) -> bool:
        """True if, by their last reports, all further processes can write their journals."""
        return all(process.storing for process in self._up.values())

    def listening(self, sockets: Sockets) -> None:
        """Begin to receive messages from the processes."""
        self._sockets = sockets
        self._listening.set()

    def choose(self, players: Sequence[Player]) -> FurtherProcess | None:
        """Return the process that should play a match; None for this one.

        It is the one to which most of the match's bots are connected; ties are broken at random.
        """
        there: Counter[int] = Counter()
        for player in players:
            if isinstance(player, BotPlayer) and player.session is not None:
                there[player.session.number >> NUMBERS] += 1
        most = max(there.values(), default=0)
        best = [number for number in (FIRST, *self._up) if there[number] == most]
        return self._up.get(_chance.choice(best))

    def own(self, session: Session) -> None:
        """Give a number to a session of this process."""
        session.number = next(self._numbers)
        self._own[session.number] = session

    def disown(self, session: Session) -> None:
        """Forget a session of this process."""
        self._own.pop(session.number, None)

    def share(self, accepted: socket.socket, address: PeerAddress, origin: Origin, kept: int) -> bool:
        """Give a connection to the process with the fewest connections.

        Return False if that is this process, which keeps it.
        """
        process = min(self._up.values(), key=lambda each: each.connections.total(), default=None)
        if process is None or not self._serves or process.connections.total() > kept:
            return False
        if not sharing.give(process.giving, accepted, address):
            return False
        process.connections[origin] += 1
        return True

    async def _run_one(self, number: int, up: trio.Event) -> bool:
        """Start a process and let it serve until it ends; return whether it ran for at least `LONG_ENOUGH`."""
        started = trio.current_time()
        giving, taking = sharing.pair()
        with giving, taking:
            try:
                remove_further_journal(self._config.data, number)
                files = (taking.fileno(), self._lock)
                async with helper(MODULE, str(taking.fileno()), files=files) as running:
                    taking.close()
                    line = ProcessLine(running.channel, self._turns, self._timers.watch)
                    journal = journal_of(self._config.data) / str(number)
                    process = FurtherProcess(number, line, giving, running.pid, journal, self._orphaned)
                    await self._serve(process, up)
            except (HelperFailed, StoreUnusable) as error:
                if not up.is_set():
                    raise RuntimeError(f"process {number} of the server cannot be started: {error}") from error
                log.error("a process of the server cannot be started", process=number, error=str(error))
                return False
        log.error("a process of the server ended", process=number, pid=process.pid, matches=len(process.matches))
        await self._take_over(process)
        return trio.current_time() - started > LONG_ENOUGH

    async def _serve(self, process: FurtherProcess, up: trio.Event) -> None:
        """Give work to a process until it ends."""
        config, games = self._config, [game.name for game in self._config.games]
        process.line.channel.send(
            Task(
                process.number,
                config.data.absolute(),
                games,
                config.house_workers,
                config.heartbeat,
                config.limits,
                config.transport,
                config.tls_cert,
                config.tls_key,
            )
        )
        self._up[process.number] = process
        log.info("a process of the server runs", process=process.number, pid=process.pid)
        up.set()
        try:
            await self._listening.wait()
            self._sockets.watch(process.giving, partial(self._take_questions, process))
            try:
                await process.line.run(partial(self._take, process), self._sockets)
            finally:
                self._sockets.unwatch(process.giving)
        finally:
            del self._up[process.number]
            self._timers.forget(process.line)

    def _take_questions(self, process: FurtherProcess, _: int) -> None:
        """Answer the requests that a process forwards from its connections."""
        while (found := sharing.take(process.giving)) is not None:
            accepted, address = found
            if accepted is not None:
                self._sockets.adopt(accepted, address)

    async def _take_over(self, process: FurtherProcess) -> None:
        """Clean up after a process that has ended: its bots are disconnected, and its matches continue here."""
        for origin in process.connections.elements():
            self._sockets.release(origin)
        with self._turns:
            lost = [
                bot_player
                for bot_player in self._players
                if bot_player.session is not None and bot_player.session.number >> NUMBERS == process.number
            ]
            cut_off(lost, trio.current_time())
            for call in list(process.calls.values()):
                call.ended(PeerVanished())
        for done, wrong in process.prepared.values():
            wrong.append(f"process {process.number} of the server ended")
            done.set()
        left = [match for match in process.matches.values() if not match.over]
        if left:
            await self._matches.take_over(left, read_further_journal(self._config.data, process.number))

    def _orphaned(self, match: RemoteMatch) -> None:
        """Play a match here from its beginning, because its process ended before the match began."""
        nothing = JournalContent({match.match_id: [header_line(match.header)]}, frozenset())
        self._nursery.start_soon(self._matches.take_over, [match], nothing)

    def _take(self, process: FurtherProcess, calls: Sequence[ProcessCall]) -> None:
        """Handle the calls of a process in one turn."""
        for to, number, method, arguments in calls:
            if to == "match":
                self._to_match(process, number, method, arguments)
            elif to == "session":
                self._to_session(process, number, method, arguments)
            else:
                getattr(self, f"_process_{method}")(process, number, *arguments)

    def _to_match(self, process: FurtherProcess, match_id: int, method: str, arguments: tuple[Any, ...]) -> None:
        """Forward a bot's call to its match, in any process. If the match is over, ignore the call."""
        match = self._matches.get(match_id)
        if isinstance(match, RemoteMatch):
            match.line.call("match", match_id, method, *arguments)
        elif match is not None:
            tell_match(cast("MatchHere", match), self._players.get, process.line, method, arguments)

    def _to_session(self, process: FurtherProcess, number: int, method: str, arguments: tuple[Any, ...]) -> None:
        """Handle a process's call about one of its own sessions, or forward its call to a session of another
        process."""
        of = number >> NUMBERS
        if of == process.number:
            if method == "opened":
                self._opened(process, number, *arguments)
            elif (call := process.calls.get(number)) is not None:
                self._heard(process, call, method, arguments)
        elif of == FIRST:
            if (session := self._own.get(number)) is not None:
                tell_bot(session, self._sent_to, method, arguments)
        elif (other := self._up.get(of)) is not None:
            other.line.call("session", number, method, *arguments)

    def _sent_to(self, match_id: int) -> Sent | None:
        match = self._matches.get(match_id)
        return match.elsewhere.sent if isinstance(match, RemoteMatch) else None

    def _opened(self, process: FurtherProcess, number: int, token: str, peer: str, at: float) -> None:
        call = process.calls[number] = RemoteCall(process.line, number, token, peer, process.line.heard(at))
        self._nursery.start_soon(self._answer, process, call)

    async def _answer(self, process: FurtherProcess, call: RemoteCall) -> None:
        """Answer a bot's call of `Play`, and have the call closed with the resulting status."""
        end: tuple[str, str, bytes] | None = None
        try:
            await self._play(call)
        except CallRefused as refused:
            end = (refused.code.name, refused.text, refused.details)
        except Exception:
            log.exception("a bot's call failed", peer=call.peer)
            end = ("INTERNAL", "the server failed to answer; this is a bug of the server, not of the client", b"")
        del process.calls[call.number]
        process.line.call("session", call.number, "closed", end)

    def _heard(self, process: FurtherProcess, call: RemoteCall, method: str, arguments: tuple[Any, ...]) -> None:
        """Handle a message, other than answers, of a bot that is connected to a process."""
        match method, arguments:
            case "hello", (message,):
                call.hello(message)
            case "heard", (at, ready, declined, capacity, leaves) if call.session is not None:
                heard = [Ready(*each) for each in ready]
                instant = process.line.heard(at)
                call.session.heard(BotMessage(instant, heard, (), None, capacity, declined, (), leaves))
            case "measured", (seconds,) if call.session is not None:
                call.session.measured(seconds)
            case "ended", ("vanished", _, _):
                call.ended(PeerVanished())
            case "ended", ("", _, _):
                call.ended(None)
            case "ended", (reason, text, wait):
                call.ended(Closed(Reason[reason], text, wait))

    def _process_prepared(self, process: FurtherProcess, match_id: int, wrong: str) -> None:
        """Record that a process has stored the beginning of a match, or the error `wrong`."""
        if (waiting := process.prepared.get(match_id)) is not None:
            done, why = waiting
            if wrong:
                why.append(wrong)
            done.set()

    def _process_round_over(self, process: FurtherProcess, match_id: int, report: RoundReport) -> None:
        if match_id in process.matches:
            self._matches.round_over(match_id, report)

    def _process_over(self, process: FurtherProcess, match_id: int, *end: Any) -> None:
        """Record that a match is over."""
        if (match := process.matches.pop(match_id, None)) is not None:
            match.end(*end)

    def _process_closed(self, process: FurtherProcess, number: int, origin: Origin) -> None:
        """Record that a connection was closed."""
        process.connections[origin] -= 1
        if not process.connections[origin]:
            del process.connections[origin]
        self._sockets.release(origin)

    def _process_replaced(self, process: FurtherProcess, number: int, path: str) -> None:
        """Record that a file of a process's journal is gone."""
        self._file = Path(path)
        self._replaced.set()

    def _process_storing(self, process: FurtherProcess, number: int, error: str) -> None:
        """Record whether a process can store; `error` is the reason if it cannot."""
        process.storing = not error
        if error:
            log.error("a process of the server cannot write its journal", process=process.number, error=error)
        else:
            log.info("a process of the server writes its journal again", process=process.number)
