"""The harness of a check: the bot's program, its server, and functions that wait for the bot's actions.

This module also defines the verdicts of a check and the exceptions that express them.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import Enum
from pathlib import Path
from typing import Final

import trio
from arena_client.v1 import play_pb2
from trio.to_thread import run_sync

from arena.local.check.match import CheckedMatch, Puppet
from arena.local.check.server import CheckServer
from arena.local.check.wire import LOOPBACK, Relay, Wire
from arena.local.commands.command import RunningCommand
from arena.local.sandbox.sandbox import Sandbox, run_command
from arena.local.server.host import new_token
from arena.server.sessions.player import BotPlayer
from arena.server.sessions.session import Session
from arena.store.journal.journal import open_journal
from engine.registry import GAMES

LINES: Final = 12
"""Number of lines shown from the end of the program's output."""
WIDTH: Final = 400
"""Maximum number of characters shown per line."""
PATIENCE: Final = 15.0
"""Maximum number of seconds for an immediate reaction, even on a slow machine."""
START: Final = 30.0
"""Maximum number of seconds until a started bot sends its first message."""
A_MATCH: Final = 45.0
"""Maximum number of seconds for a match in which the bot answers."""
TICK: Final = 0.01
"""Number of seconds between two checks of a condition."""
SHARED: Final = "shared"
"""Name of the folder with the server's socket, for a sandboxed bot."""
HOLDERS: Final = ("{server}", "{host}", "{port}", "{token}", "{token_file}")
"""Placeholders in a command, to be replaced by values."""


def _printable(line: str) -> str:
    """Return a line without control characters."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line.expandtabs()[:WIDTH])


@asynccontextmanager
async def open_stage(
    command: Sequence[str], folder: Path, sandbox: Sandbox | None = None, ladders: Sequence[str] = ()
) -> AsyncIterator[Stage]:
    """Create a stage for a bot. The bot's output goes to `folder`, and its program ends with the block.

    `ladders` are the names that the bot gets in ARENA_LADDERS.
    """
    journal, _ = open_journal(folder, ())
    shared = folder / SHARED
    shared.mkdir(mode=0o700)
    async with trio.open_nursery() as nursery:
        server = CheckServer(journal, nursery, ladders)
        relay = Relay(await nursery.start(server.run), nursery, None if sandbox is None else (shared, sandbox))
        await relay.up()
        stage = Stage(command, folder, server, relay, sandbox, ladders)
        try:
            yield stage
        finally:
            with trio.CancelScope(shield=True):
                await stage.end_bot()
            nursery.cancel_scope.cancel()
    journal.close()


class Stage:
    """A bot and the server that checks it."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        server: CheckServer,
        relay: Relay,
        sandbox: Sandbox | None,
        ladders: Sequence[str] = (),
    ) -> None:
        self.server = server
        self.relay = relay
        self.ladders = ladders
        self.program: RunningCommand | None = None
        self.printed = 0
        """Number of bytes that finished programs printed."""
        self.last_lines: tuple[str, ...] = ()
        """The last lines of output from the latest program."""
        self.notices: list[play_pb2.Notice] = []
        """Notices so far for which the bot itself is responsible."""
        self.asked = 0
        """Number of the bot's decisions in the checks in which `notices` were collected."""
        self.token_file = folder / "token"
        self.token_given = sandbox is not None or any("{token}" in word for word in command)
        """True if the check gives the bot its token, because a sandboxed bot cannot store one."""
        self._command = command
        self._log = folder / "bot.log"
        self._shared = folder / SHARED
        self._sandbox = sandbox
        self._token = new_token()
        server.names[self._token] = "checked"

    @property
    def session_wire(self) -> Wire | None:
        """The bot's open stream, or None until the server has sent a welcome."""
        bot = self.server.bot
        if bot is None or bot.session is None:
            return None
        found = next(wire for wire in reversed(self.server.wires) if wire is bot.session.link)
        return found if found.said else None

    @property
    def wire(self) -> Wire:
        """The open stream.

        Raises:
            FaultError: the bot has no open stream.
        """
        if (wire := self.session_wire) is None:
            raise FaultError("it is not connected")
        return wire

    @property
    def bot(self) -> BotPlayer:
        """The bot's player on the server.

        Raises:
            FaultError: the bot is not connected.
        """
        if (bot := self.server.bot) is None:
            raise FaultError("it is not connected")
        return bot

    @property
    def session(self) -> Session:
        """The bot's session.

        Raises:
            FaultError: the bot has no session.
        """
        if (session := self.bot.session) is None:
            raise FaultError("it is not connected")
        return session

    @property
    def games(self) -> tuple[str, ...]:
        """The bot's games that are registered here."""
        return tuple(name for name in self.wire.hello.games if name in GAMES)

    @property
    def capacity(self) -> int:
        """The capacity that the bot announced last."""
        return self.session.capacity

    async def start_bot(self) -> RunningCommand:
        """Start the program.

        Raises:
            CommandNotStarted: the command cannot be started.
            SandboxRefused: the sandbox cannot be created.
        """
        await self.end_bot()
        values = (self.relay.address, LOOPBACK, str(self.relay.port), self._token, str(self.token_file))
        words = list(self._command)
        for holder, value in zip(HOLDERS, values, strict=True):
            words = [word.replace(holder, value) for word in words]
        told = {"ARENA_SERVER": self.relay.address, "ARENA_TOKEN_FILE": str(self.token_file)}
        told["ARENA_LADDERS"] = ",".join(self.ladders)  # set even if empty, so that the bot inherits no value
        told = os.environ | told if self._sandbox is None else told | {"ARENA_TOKEN": self._token}
        self._log.unlink(missing_ok=True)
        self.program = await run_sync(run_command, words, told, self._log, self._shared, self._sandbox)
        return self.program

    async def end_bot(self) -> None:
        """End the program at once. If a bot is connected, discard it."""
        if self.program is not None:
            with trio.CancelScope(shield=True):
                end = await run_sync(self.program.end, True)
            assert end is not None, "who is killed has ended"
            self.printed += end.printed
            self.last_lines = tuple(map(_printable, end.last[-LINES:]))
            self.program = None
        self.server.forget()

    async def connected(self, seconds: float = START) -> Wire:
        """Wait until the bot is connected. Start it if it is not running."""
        if self.program is None or self.program.ended():
            await self.start_bot()
        await self.until(lambda: self.session_wire is not None, "it did not connect", seconds)
        return self.wire

    async def until(self, condition: Callable[[], bool], otherwise: str, seconds: float = PATIENCE) -> None:
        """Wait for a condition.

        Raises:
            FaultError: the program ended, or the time is over.
        """
        program, end = self.program, trio.current_time() + seconds
        while not condition():
            if program is not None and (ended := program.ended()):
                raise FaultError(f"the program {ended.how} ({otherwise})")
            if trio.current_time() > end:
                raise FaultError(f"{otherwise} within {seconds:g} s")
            await trio.sleep(TICK)

    async def idle(self) -> Wire:
        """Wait until the bot is connected and is playing no match."""
        await self.connected()
        await self.until(lambda: not self.bot.playing.running, "its matches did not end", A_MATCH)
        return self.wire

    def invite(
        self,
        game: str | None = None,
        seats: int | None = None,
        seat: int = 0,
        others: Sequence[BotPlayer] = (),
    ) -> CheckedMatch:
        """Offer the bot a seat, by default at the smallest table of its first game."""
        game = game or self.games[0]
        size = seats or GAMES[game].seats[0]
        with self.server.turns:
            return self.server.matches.invite(self.bot, game, size, seat, others)

    def invite_many(self, number: int) -> list[CheckedMatch]:
        """Offer the bot several seats in one message, at tables that wait for a player who never comes."""
        matches, game = self.server.matches, self.games[0]
        with self.server.turns:
            return [matches.invite(self.bot, game, 3, others=[self.absentee()], accepts=False) for _ in range(number)]

    async def begin(self, *matches: CheckedMatch) -> None:
        """Wait until the given matches have begun."""
        what = "it accepted no invitation" if len(matches) == 1 else "it did not accept all its invitations"
        await self.until(lambda: all(match.begun for match in matches), what)

    async def end(self, *matches: CheckedMatch) -> None:
        """Wait until the given matches are over.

        Raises:
            FaultError: the bot was suspended.
        """
        await self.begin(*matches)
        await self.until(lambda: all(match.over for match in matches), "a match did not end", A_MATCH)
        numbers = {match.match_id for match in matches}
        if any(notice.match_id in numbers for notice in self.told(play_pb2.NOTICE_KIND_SUSPENDED)):
            raise FaultError("it was suspended: three decisions in a row had no answer in time")

    async def play(self, game: str | None = None, seats: int | None = None, seat: int = 0) -> CheckedMatch:
        """Have the bot play a match to its end."""
        match = self.invite(game, seats, seat)
        await self.end(match)
        return match

    async def lose_connection(self) -> None:
        """Cut the connection, and wait until the server has noticed."""
        before = self.session_wire
        self.relay.cut()
        await self.until(lambda: before is None or before.over, "the server still hears it")

    def told(self, *kinds: int) -> list[play_pb2.Notice]:
        """Return the notices of the given kinds that the bot received on any stream."""
        said = [said.message for wire in self.server.wires for said in wire.said]
        return [notice for message in said for notice in message.notices if notice.kind in kinds]

    def absentee(self) -> BotPlayer:
        """Return another bot that never accepts its seat."""
        return BotPlayer(2, "somebody", "somebody", lambda _: None)

    def puppet(self) -> Puppet:
        """Return another bot that the check controls."""
        return Puppet(self.absentee(), self.server.turns)


class Verdict(Enum):
    """The verdict of a check."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    """The bot works, but its behaviour puts it at a disadvantage."""
    FAIL = "fail"
    SKIP = "skip"
    """The check was not run."""


class FaultError(Exception):
    """Error of a check: the bot's behaviour makes it lose matches. The message describes the behaviour."""


class DoubtError(Exception):
    """Error of a check: a server accepts the bot's behaviour, but the bot should behave differently."""


class NotAskedError(Exception):
    """Error of a check that cannot be run with this bot."""
