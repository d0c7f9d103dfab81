"""Shared parts of the server's tests: bots with links in memory, a store without its thread, a small game."""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar, cast

import trio
from sqlalchemy import Connection

from arena.log.keys import Signer
from arena.match.policy import Policy
from arena.replay.read import read
from arena.replay.replay import Replay
from arena.replay.verify import verify
from arena.server.arena import Arena, open_arena
from arena.server.config import Config, LadderSettings, LadderTable
from arena.server.runtime.turns import Turns
from arena.server.sessions.messages import (
    Answer,
    BotMessage,
    Closed,
    Hello,
    Invitation,
    MatchOver,
    MatchStart,
    MessageCodec,
    Notice,
    NoticeKind,
    Outgoing,
    Question,
    Ready,
    Welcome,
)
from arena.server.sessions.player import HousePlayer
from arena.store import schema
from arena.store.base import leaves as log
from arena.store.base.errors import ServerUnusable, StoreError
from arena.store.base.rows import MatchRow
from arena.store.bots import bots
from arena.store.journal.journal import open_journal
from arena.store.log.key import key_file, open_log
from arena.store.matches import matches
from arena.store.store import Store
from arena.store.writer.group_commit import AtEnd
from engine.game import SeatView
from tests.match.counting import CountingGame
from tests.store.in_memory import in_memory

T = TypeVar("T")

GAME = CountingGame()
POLICY = Policy(soft_limit=1_000_000, bank=10_000_000, newcomer_grace=30_000_000)
NONCE = bytes(range(16))
QUICK = 0.005
"""Seconds per decision of a bot with a known pace."""
PATIENCE = 10_000
"""Seconds after which a test fails, usually on a virtual clock."""


class HouseBot:
    """A house bot that plays the first legal action at once."""

    version = "1"
    game = GAME.name

    def __init__(self, name: str) -> None:
        self.name = name

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        assert len(chance) == 32
        return legal[0]


def house_players(*names: str) -> list[HousePlayer]:
    return [HousePlayer(-1 - number, HouseBot(name)) for number, name in enumerate(names)]


class Packed(bytes):
    """Bytes that stand for a message and contain a reference to it. The compiled build accepts only bytes."""

    message: Any


def packed(message: object) -> Packed:
    content = Packed()
    content.message = message
    return content


def unpacked(content: bytes) -> Any:
    return cast("Packed", content).message


class Line:
    """A link to a bot with `CODEC`. Tests see both of its ends."""

    peer = "memory"
    received_at = 0.0

    def __init__(self, *, reads: bool = True) -> None:
        self.reads = reads
        """True if the bot reads. Otherwise no message is delivered."""
        self._say, self._heard = trio.open_memory_channel[BotMessage | None](math.inf)
        self._show, self._shown = trio.open_memory_channel[Any](math.inf)
        self._gone = trio.Event()
        self.acknowledged: float | None = None
        """Round trips in seconds as the server's system reports them."""

    @property
    def busy(self) -> bool:
        return not self.reads

    def __repr__(self) -> str:
        return f"<Line {'gone' if self._gone.is_set() else 'open'}{'' if self.reads else ', unread'}>"

    def shortest_round_trip(self) -> float | None:
        return self.acknowledged

    def hand_over(self, message: bytes) -> None:
        if self._gone.is_set():
            raise trio.BrokenResourceError
        self._show.send_nowait(unpacked(message))

    async def deliver(self, take: Callable[[Any], None], left: Callable[[], None]) -> None:
        while (message := await self._heard.receive()) is not None:
            self.received_at = message.at
            take(packed(message))
        if self._gone.is_set():
            raise trio.BrokenResourceError

    def say(
        self,
        ready: Sequence[Ready] = (),
        answers: Sequence[Answer] = (),
        heartbeat: int | None = None,
        capacity: int | None = None,
        declined: Sequence[int] = (),
        resumed: Sequence[int] = (),
        leaves: bool = False,
    ) -> None:
        at = trio.current_time()
        self._say.send_nowait(BotMessage(at, ready, answers, heartbeat, capacity, declined, resumed, leaves))

    def half_close(self) -> None:
        self._say.send_nowait(None)

    def vanish(self) -> None:
        self._gone.set()
        self._say.send_nowait(None)

    async def read(self) -> Outgoing:
        return cast("Outgoing", await self._shown.receive())

    def unread(self) -> Outgoing | None:
        """Return the next message, or None."""
        try:
            return cast("Outgoing", self._shown.receive_nowait())
        except trio.WouldBlock:
            return None


CODEC = MessageCodec(lambda content, _: cast("BotMessage", unpacked(content)), packed)


def turns() -> Turns:
    """Return turns that store nothing."""
    return Turns(lambda: None, 0.0)


class MemoryStore:
    """The store's jobs on SQLite in memory without a thread, so that a virtual clock may jump. Tests can make it
    fail.
    """

    operator_token = "operator_secret"
    lease = None
    """None, as in the store of a server with a single node."""

    def __init__(self) -> None:
        engine = in_memory(schema.metadata)
        self._connection = engine.connect()
        weakref.finalize(self, engine.dispose)
        weakref.finalize(self, self._connection.close)  # runs before `dispose`, because the newest finalizer runs first
        self._directory = Path(tempfile.mkdtemp())
        key_file(self._directory).write_bytes(Signer(bytes(32)).pem())  # with this key every welcome is the same
        with self._connection.begin():
            self.signer = open_log(self._connection, self._directory, 0)
        weakref.finalize(self, shutil.rmtree, self._directory)
        self.unfinished: Mapping[int, Sequence[str]] = {}
        self.journal, _ = open_journal(self._directory, ())
        self._closing = weakref.finalize(self, self.journal.close)
        self.troubles: list[StoreError | None] = []
        """The errors of the next writes in order. None lets a write succeed."""
        self.gate = trio.Event()
        """An event for which writes wait."""
        self.gate.set()
        self.writing = 0
        """Number of running writes."""

    def __repr__(self) -> str:
        return f"<MemoryStore, {self.writing} writes under way, {len(self.troubles)} troubles ahead>"

    async def write(self, job: Callable[[Connection], T]) -> T:
        await trio.lowlevel.checkpoint()
        self.writing += 1
        await self.gate.wait()
        self.writing -= 1
        if self.troubles and (trouble := self.troubles.pop(0)) is not None:
            if isinstance(trouble, ServerUnusable):  # The write succeeded, but the database ended before it answered.
                self.now(job)
            raise trouble
        return self.now(job)

    def reopen(self) -> None:
        """Reopen the store as the next server finds it after this server has died."""
        self._closing()
        self.journal, left = open_journal(self._directory, self.now(matches.playing))
        self.unfinished = left.lines
        self._closing = weakref.finalize(self, self.journal.close)

    def shorten(self, at: Callable[[str], bool]) -> None:
        """Cut the journal before the first row that meets a condition."""
        self.unfinished = {
            match: list(takewhile(lambda line: not at(line), lines)) for match, lines in self.unfinished.items()
        }

    async def read(self, job: Callable[[Connection], T]) -> T:
        await trio.lowlevel.checkpoint()
        return self.now(job)

    def now(self, job: Callable[[Connection], T]) -> T:
        with self._connection.begin():
            value = job(self._connection)
            log.seal(self._connection, self.signer)
            return value.complete(self._connection) if isinstance(value, AtEnd) else value

    def register(self, name: str, owner: str = "") -> bots.Bot:
        return self.now(lambda connection: bots.register(connection, name, owner, 0).bot)


def config(**changes: Any) -> Config:
    """Return a configuration. Its default ladders follow from `games`, `seats` and `options`. The `ladders` come after
    them.

    Every game is played at the same tables, or at its largest table if it has none of these.
    """
    settings: dict[str, Any] = {"games": (GAME,), "seats": (2,), "options": {}, "ladders": ()}
    settings |= {"house": False, "house_workers": 0, "policy": POLICY, "heartbeat": 1000.0}
    settings |= {"fit_rest": 0.0} | changes
    games, seats, options, further = (settings.pop(name) for name in ("games", "seats", "options", "ladders"))
    tables = {game: tuple(size for size in seats if size in game.seats) or game.seats[-1:] for game in games}
    ladders = tuple(LadderTable(game, tuple(sizes), options) for game, sizes in tables.items())
    return Config(ladder_tables=(*ladders, *further), **settings)


def ladder(**changes: Any) -> LadderSettings:
    """The first ladder of a configuration."""
    return config(**changes).ladders[0]


@asynccontextmanager
async def running(store: MemoryStore, house_bots: Sequence[HouseBot] = (), **changes: Any) -> AsyncIterator[Arena]:
    async with open_arena(config(**changes), cast("Store", store), {GAME.name: house_bots}) as arena:
        yield arena


class Hall:
    """A server on a store in memory, with a virtual clock, and its bots."""

    def __init__(self, store: MemoryStore, nursery: trio.Nursery) -> None:
        self._store = store
        self._nursery = nursery
        self._arena: Arena | None = None

    @asynccontextmanager
    async def open(self, *players: Bot, house_bots: Sequence[HouseBot] = (), **changes: Any) -> AsyncIterator[Arena]:
        """Run the server during the `with` block with these bots connected from the beginning."""
        async with running(self._store, house_bots, **changes) as self._arena:
            self.join(*players)
            yield self._arena

    def join(self, *players: Bot) -> None:
        """Connect more bots."""
        assert self._arena is not None
        for bot in players:
            self._nursery.start_soon(bot.attend, self._arena)

    def listed(self) -> list[MatchRow]:
        """Return the matches that are stored, oldest first."""
        return list(reversed(self._store.now(matches.list_matches)))


def replay_of(store: MemoryStore, match_id: int = 1) -> Replay:
    replay = read(store.now(partial(matches.get_replay, match_id=match_id)))
    assert verify(replay).verified
    return replay


class Bot:
    """A bot that accepts every invitation and plays the last legal action. It records the messages that it receives."""

    def __init__(self, row: bots.Bot, *, capacity: int = 1, games: tuple[str, ...] = (GAME.name,)) -> None:
        self.row = row
        self.hello = Hello(games, capacity, "test")
        self.line = Line()
        self.known = True
        """True if the server already knows that the bot is quick. Otherwise the bot first plays house bots."""
        self.accepts = True
        self.answers = True
        self.welcome: Welcome | None = None
        self.invitations: list[Invitation] = []
        self.starts: list[MatchStart] = []
        self.questions: list[Question] = []
        self.notices: list[Notice] = []
        self.reports: list[MatchOver] = []
        self.rounds = 0
        self.heartbeats: list[int] = []
        self.end: Closed | trio.BrokenResourceError | None = None
        self.told = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return (
            f"<Bot {self.row.name} on {self.line}: {len(self.invitations)} invitations, "
            f"{len(self.questions)} questions, {[kind.name for kind in self.kinds()]}, {len(self.reports)} results, "
            f"end {self.end!r}>"
        )

    def again(self, **changes: Any) -> Bot:
        """Return the same bot on a new link."""
        return Bot(self.row, **({"capacity": self.hello.capacity} | changes))

    async def authorize(self) -> bots.Bot:
        """Return the bot as if the server had checked its token."""
        return self.row

    async def attend(self, arena: Arena) -> None:
        """Serve the link from its connection to its end."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen)
            if self.known:
                arena.players.pace(self.row.id).played(trio.current_time(), QUICK)
            try:
                await arena.attend(self.line, CODEC, self.authorize, self.hello)
            except (Closed, trio.BrokenResourceError) as end:
                self.end = end
            self.told.unpark_all()
            nursery.cancel_scope.cancel()

    async def until(self, done: Callable[[], object]) -> None:
        """Wait until a condition holds. Check it after every message."""
        with trio.fail_after(PATIENCE):
            while not done():
                await self.told.park()

    def kinds(self) -> list[NoticeKind]:
        return [notice.kind for notice in self.notices]

    async def _listen(self) -> None:
        while True:
            message = await self.line.read()
            self.hear(message)
            self.told.unpark_all()

    def hear(self, message: Outgoing) -> None:
        self.welcome = message.welcome or self.welcome
        self.invitations += message.invitations
        self.starts += message.starts
        self.questions += message.questions
        self.notices += message.notices
        self.reports += message.reports
        self.rounds += len(message.rounds)
        if message.heartbeat is not None:
            self.heartbeats.append(message.heartbeat)
        ready = [Ready(each.invitation_id, NONCE) for each in message.invitations] if self.accepts else []
        answers = [answer(each) for each in message.questions] if self.answers else []
        if ready or answers:
            self.line.say(ready, answers)


def answer(question: Question, action: int | None = None) -> Answer:
    return Answer(question.match_id, question.ask.decision, question.ask.legal[-1] if action is None else action)
