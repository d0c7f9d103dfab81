"""Connections that are reset at any moment, over real sockets: between two steps of a turn, a flush or a check.

The server notices a reset only in a system call on its end of the connection, so that end counts its system calls. The
peers reset their connections before a chosen call. Time is virtual, so that all timeouts pass.
"""

from __future__ import annotations

import gzip
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any, Final

import grpc
import pytest
import structlog
import trio
import trio.testing
from grpc_health.v1 import health_pb2_grpc

from tests.trio_grpc.echo import SAY, EchoStream, Item
from tests.trio_grpc.grpc_rig import echo_service, in_thread, serving
from tests.trio_grpc.raw_http2 import (
    ACK,
    CHECK,
    EMPTY,
    MAX_WINDOW,
    Kind,
    RawConnection,
    frame,
    message,
    reset,
    settings,
    window,
)
from trio_grpc.grpc.call import CallRefused, PeerVanished, bearer, send_within
from trio_grpc.grpc.health import Health
from trio_grpc.grpc.server import Service
from trio_grpc.http2.listener import Listener
from trio_grpc.limits.connection_limits import LOOPBACK
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

WATCH: Final = "/grpc.health.v1.Health/Watch"
TOKEN: Final = ("authorization", "Bearer good")
LARGE: Final = Item(text="s" * 30_000)
RESET_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""The option SO_LINGER with which a socket is reset when it is closed."""
NARROW: Final = TransportSettings(work_untrusted=10_000, max_memory_untrusted=100_000)
"""Limits that tests exhaust only on purpose. Unauthenticated peers have memory for a few messages."""
TO_THE_END: Final = (0.5, 31.0, 31.0, 61.0, 31.0)
"""Steps of virtual time after which no trace of a connection may remain, whatever its peer does."""

Action = Callable[["Lifetime", "Stranger"], None]


class Watched(socket.socket):
    """The server's end of a connection, which calls the function `before` ahead of each system call."""

    before: Callable[[], None]

    def recv(self, *arguments: Any) -> bytes:
        self.before()
        return super().recv(*arguments)

    def send(self, *arguments: Any) -> int:
        self.before()
        return super().send(*arguments)


class Stranger(RawConnection):
    """The peer's end of a connection. It reads and answers only when a test calls it."""

    def __init__(self, sock: socket.socket, *, lively: bool) -> None:
        super().__init__("", sock=sock, auto_reply=False)
        self.lively = lively
        """True if the peer keeps sending messages, so that the server does not consider it lost."""
        self.streams: list[int] = []

    def send(self, *pieces: bytes) -> None:
        """Send bytes. On a connection that either side has closed, do nothing."""
        if self.socket.fileno() >= 0:
            super().send(*pieces)

    def begin(self, path: str, *more: tuple[str, str], end: bool = False) -> None:
        """Open a call."""
        self.streams.append(self.stream())
        self.send(self.opening(self.streams[-1], path, *more, end=end))

    def vanish(self) -> None:
        """Reset the connection."""
        if self.socket.fileno() >= 0:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_ONCE)
            self.socket.close()


class Lifetime:
    """Several connections from beginning to end, reset before the step with a given number."""

    def __init__(self, listener: Listener, clock: trio.testing.MockClock, chance: Random, reset_before: int) -> None:
        self.listener = listener
        self.chance = chance
        self.steps = 0
        self._clock = clock
        self._reset_before = reset_before
        self._whose = Random(reset_before)
        self.strangers: list[Stranger] = []

    def step(self) -> None:
        """Count a step. Before the step with the given number, reset the connections of some or all peers."""
        if self.steps == self._reset_before:
            for stranger in self.strangers:
                if self._whose.random() < 0.7 or len(self.strangers) == 1:
                    stranger.vanish()
        self.steps += 1

    def connect(self) -> Stranger:
        """Connect one more unauthenticated peer."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            mine = socket.create_connection(listening.getsockname())
            accepted, address = listening.accept()
        watched = Watched(fileno=accepted.detach())
        watched.setblocking(False)
        watched.before = self.step
        self.strangers.append(Stranger(mine, lively=self.chance.random() < 0.5))
        self.listener._connect(watched, address, None)
        return self.strangers[-1]

    async def settle(self) -> None:
        """Let the server finish its pending work."""
        self.step()
        await trio.testing.wait_all_tasks_blocked()

    async def wait(self, seconds: float) -> None:
        """Advance the virtual clock."""
        for stranger in self.strangers:
            if stranger.lively:
                stranger.ping()
        self._clock.jump(seconds)
        await self.settle()

    async def end(self, patience: int = len(TO_THE_END)) -> None:
        """Reset the remaining connections after the first of the times `TO_THE_END`. Wait until the server has
        discarded them.
        """
        for seconds in TO_THE_END[:patience]:
            await self.wait(seconds)
        for stranger in self.strangers:
            stranger.vanish()
        for seconds in TO_THE_END:
            await self.wait(seconds)
        assert not self.listener.connections
        assert self.listener.untrusted.held == 0


async def play(stream: EchoStream) -> None:
    """Answer each message with a large one, and trust a caller with the token. The caller decides whether it reads the
    answers.
    """
    if "x-slow" in stream.metadata:
        await trio.sleep(0.3)
    if bearer(stream) == "good":
        stream.trust()
    if "x-deliver" not in stream.metadata:
        while await stream.receive() is not None:
            await send_within(stream, LARGE)
        return
    owed = 0

    def answer() -> None:
        nonlocal owed
        if owed and not stream.busy:
            owed -= 1
            stream.hand_over(LARGE)

    def take(_: Item) -> None:
        nonlocal owed
        owed += 1
        if owed > 20:
            raise CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, "read the answers")
        answer()

    await stream.deliver(take, answer)


class Handlers:
    """Number of handlers that are running."""

    def __init__(self) -> None:
        self.running = 0

    async def play(self, stream: EchoStream) -> None:
        self.running += 1
        try:
            await play(stream)
        except PeerVanished:
            pass
        finally:
            self.running -= 1


@asynccontextmanager
async def listening(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listener]:
    """Run a server during the `with` block. At its end no connection may have failed, no handler may be running, and
    new calls must succeed.
    """
    made: list[Listener] = []

    def make(*arguments: Any) -> Listener:
        made.append(Listener(*arguments))
        return made[-1]

    monkeypatch.setattr("trio_grpc.grpc.server.Listener", make)
    handlers = Handlers()
    health = Service(health_pb2_grpc.add_HealthServicer_to_server, Health([], trio.Event()))
    with structlog.testing.capture_logs() as said:
        async with serving(health, echo_service(handlers.play), settings=NARROW) as address:
            await trio.testing.wait_all_tasks_blocked()
            yield made[0]
            assert handlers.running == 0

            def alive() -> bool:
                with RawConnection(address) as other:
                    return other.is_alive()

            assert await in_thread(alive)
    assert [line for line in said if line["log_level"] == "error"] == []


# --- a reset at every moment of fixed lives ---


async def calls_that_wait_for_a_window(life: Lifetime) -> None:
    stranger = life.connect()
    stranger.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=0)))
    for _ in range(4):
        stranger.begin(CHECK)
        stranger.data(stranger.streams[-1], EMPTY, end=True)
    await life.settle()
    await life.wait(0.5)


async def calls_that_wait_on_a_connection_that_is_not_read(life: Lifetime) -> None:
    await calls_that_wait_for_a_window(life)
    spend(life)
    for stranger in life.strangers:
        stranger.ping()
    await life.settle()


async def a_window_that_opens(life: Lifetime) -> None:
    await calls_that_wait_for_a_window(life)
    (stranger,) = life.strangers
    stranger.send(window(1, 1))
    await life.settle()
    stranger.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=1 << 16)))
    await life.settle()


async def answers_that_nobody_reads(life: Lifetime) -> None:
    stranger = life.connect()
    stranger.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=MAX_WINDOW)), window(0, MAX_WINDOW - 65535))
    for more in ((TOKEN,), (("x-deliver", "1"),)):
        stranger.begin(SAY, *more)
        for _ in range(5):
            stranger.data(stranger.streams[-1], EMPTY)
            await life.settle()


async def a_large_message_that_comes_before_its_token_is_checked(life: Lifetime) -> None:
    stranger = life.connect()
    stranger.begin(SAY, TOKEN, ("x-slow", "1"))
    stranger.data(stranger.streams[-1], message(bytes(60_000))[:40_000])
    await life.settle()
    await life.wait(0.3)
    stranger.data(stranger.streams[-1], message(bytes(60_000))[40_000:])
    await life.settle()


async def strangers_who_are_evicted(life: Lifetime) -> None:
    strangers = [life.connect() for _ in range(3)]
    for stranger in strangers:
        for _ in range(4):
            stranger.begin(CHECK)
            stranger.data(stranger.streams[-1], message(bytes(16_000))[:-1])
    await life.settle()
    for stranger in strangers:
        stranger.send(frame(Kind.DATA, 0, 1, bytes(16_000), length=16_384))
    await life.settle()


def spend(life: Lifetime) -> None:
    """Exhaust the machine's budget: the server reads no unauthenticated connection until the budget has recovered."""
    life.listener.work.charge(LOOPBACK, 1e5, life.listener.now)


LIVES: Final = (
    calls_that_wait_for_a_window,
    calls_that_wait_on_a_connection_that_is_not_read,
    a_window_that_opens,
    answers_that_nobody_reads,
    a_large_message_that_comes_before_its_token_is_checked,
    strangers_who_are_evicted,
)


@pytest.mark.parametrize("live", LIVES, ids=lambda live: live.__name__)
async def test_a_reset_at_any_moment_ends_its_connection_only(
    live: Callable[[Lifetime], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
    mock_clock: trio.testing.MockClock,
) -> None:
    """Repeat the whole life of the connections once per step. Each time the peers reset them one step later."""
    async with listening(monkeypatch) as listener:
        steps, reset_before = 0, -1
        while reset_before <= steps:
            life = Lifetime(listener, mock_clock, Random(0), reset_before)
            await live(life)
            await life.end()
            steps = max(steps, life.steps)
            reset_before += 1
        assert steps > 15


# --- a reset at random moments of random lives ---


def open_a_call(life: Lifetime, stranger: Stranger) -> None:
    headers = [
        header for header in (TOKEN, ("x-deliver", "1"), ("grpc-encoding", "gzip")) if life.chance.random() < 0.3
    ]
    if life.chance.random() < 0.2:
        headers.append(("grpc-timeout", life.chance.choice(("1n", "100m", "1S", "40S"))))
    path = life.chance.choice((CHECK, CHECK, WATCH, SAY, SAY, "/no.Such/Call"))
    stranger.begin(path, *headers, end=life.chance.random() < 0.1)


def call(_: Lifetime, stranger: Stranger) -> None:
    """Make a whole call."""
    stranger.begin(CHECK)
    stranger.data(stranger.streams[-1], EMPTY, end=True)


def say(life: Lifetime, stranger: Stranger) -> None:
    content = life.chance.choice(
        (
            EMPTY,
            EMPTY * 3,
            EMPTY[:3],
            b"",
            message(b"\xff\xff"),
            message(bytes(16_000)),
            message(bytes(16_000))[:-1],
            message(bytes(60_000)),
            message(b"x", length=1 << 24),
            message(gzip.compress(bytes(100_000)), flag=1),
        )
    )
    stranger.data(a_stream(life, stranger), content, end=life.chance.random() < 0.4)


def a_stream(life: Lifetime, stranger: Stranger) -> int:
    return life.chance.choice(stranger.streams[-4:] or [1])


def cancel(life: Lifetime, stranger: Stranger) -> None:
    stranger.send(reset(a_stream(life, stranger)))


def open_a_window(life: Lifetime, stranger: Stranger) -> None:
    stream = life.chance.choice((0, a_stream(life, stranger)))
    stranger.send(window(stream, life.chance.choice((1, 5, 1000, 70_000, 1 << 20))))


def set_the_initial_window(life: Lifetime, stranger: Stranger) -> None:
    size = life.chance.choice((0, 0, 1, 6, 65535, 1 << 24))
    stranger.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=size)))


def ping(life: Lifetime, stranger: Stranger) -> None:
    stranger.ping(life.chance.choice((0, ACK)))


def begin_a_frame(life: Lifetime, stranger: Stranger) -> None:
    kind = life.chance.choice((Kind.DATA, Kind.HEADERS, Kind.PING, Kind.CONTINUATION, Kind.GOAWAY))
    stranger.send(frame(kind, 0, a_stream(life, stranger), b"some", length=life.chance.choice((4, 8, 1000))))


def go_away(_: Lifetime, stranger: Stranger) -> None:
    stranger.send(frame(Kind.GOAWAY, 0, 0, bytes(8)))


def read(_: Lifetime, stranger: Stranger) -> None:
    """Read all available data so that the server can continue to send."""
    if stranger.socket.fileno() >= 0:
        stranger.socket.settimeout(0)
        try:
            while stranger.socket.recv(1 << 16):
                pass
        except OSError:
            pass
        finally:
            stranger.socket.settimeout(10.0)


def half_close(_: Lifetime, stranger: Stranger) -> None:
    """Close the connection properly."""
    with suppress(OSError):
        stranger.socket.shutdown(socket.SHUT_WR)


def connect(life: Lifetime, _: Stranger) -> None:
    life.connect()


def spend_now(life: Lifetime, _: Stranger) -> None:
    spend(life)


ACTIONS: Final[tuple[tuple[Action, int], ...]] = (
    (call, 8),
    (open_a_call, 10),
    (say, 14),
    (cancel, 2),
    (open_a_window, 4),
    (set_the_initial_window, 3),
    (ping, 2),
    (begin_a_frame, 1),
    (go_away, 1),
    (read, 4),
    (half_close, 1),
    (spend_now, 2),
    (connect, 1),
)


async def any_life(life: Lifetime) -> None:
    """Take random actions in random order. Between them the server works or time passes."""
    strangers = [life.connect() for _ in range(life.chance.randint(1, 3))]
    for stranger in strangers:
        if life.chance.random() < 0.3:
            stranger.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=0)))
    actions, weights = zip(*ACTIONS, strict=True)
    for _ in range(life.chance.randint(5, 40)):
        (action,) = life.chance.choices(actions, weights)
        action(life, life.chance.choice(strangers))
        if life.chance.random() < 0.4:
            await life.settle()
        if life.chance.random() < 0.15:
            await life.wait(life.chance.choice((0.02, 0.5, 0.5, 6.0, 11.0, 31.0, 31.0)))


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(block, marks=pytest.mark.long) for block in range(4, 40))])
async def test_whatever_strangers_do_and_whenever_they_go_others_are_served(
    block: int, monkeypatch: pytest.MonkeyPatch, mock_clock: trio.testing.MockClock
) -> None:
    """Run each life once to its end, and several times to a reset."""
    async with listening(monkeypatch) as listener:
        for seed in range(25 * block, 25 * block + 25):
            steps = 0
            for again in range(6):
                reset_before = Random(f"{seed} {again}").randrange(steps) if again else -1
                life = Lifetime(listener, mock_clock, Random(seed), reset_before)
                await any_life(life)
                await life.end(life.chance.randrange(4))
                steps = steps or life.steps
