"""Nothing that a bot can say breaks the server, troubles another bot, or makes the server tell it a secret.

The server is the real one up to the sockets, which `tests/end_to_end` adds; a virtual clock lets hours pass.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any, cast

import pytest
import structlog
import trio
from google.protobuf.message import DecodeError
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.server.arena import Arena, open_arena
from arena.store import bots
from arena.v1 import play_pb2 as pb
from arena.wire.grpc_stream import MALFORMED
from arena.wire.memory import MemoryPeer, MemoryStream
from arena.wire.play import Play
from arena.wire.stream import Refused
from engine.registry import GAMES
from tests.server.server_rig import MemoryStore, config
from tests.wire.frames import Frames
from tests.wire.onlooker import Onlooker, Shoulder

Peer = MemoryPeer[bytes, bytes]
FRAMES = 2_000
"""In the ordinary run, for each seed."""
BURST = 12
"""Frames at most that a bot sends without looking."""


class ParsedStream:
    """A stream of bytes as the bridge makes it one of messages."""

    def __init__(self, stream: MemoryStream[bytes, bytes], parse: Any) -> None:
        self._stream = stream
        self._parse = parse
        self.peer = stream.peer
        self.metadata: Mapping[str, str] = stream.metadata

    @property
    def received_at(self) -> float:
        return self._stream.received_at

    async def receive(self) -> Any:
        content = await self._stream.receive()
        try:
            return None if content is None else self._parse(content)
        except DecodeError:
            raise Refused(MALFORMED.code, MALFORMED.text) from None

    async def send(self, message: Any) -> None:
        await self._stream.send(message.SerializeToString())


@asynccontextmanager
async def serving(store: MemoryStore, rng: Random, **changes: Any) -> AsyncIterator[Arena]:
    """A server of both games whose chance is ours, which must log no error."""
    settings = config(games=tuple(GAMES.values()), seats=(3,), heartbeat=10.0, **changes)
    with structlog.testing.capture_logs() as log:
        async with open_arena(settings, cast("Any", store)) as arena:
            arena.hall._chance = cast("Any", rng)
            yield arena
    assert not [entry for entry in log if entry["log_level"] not in ("info", "debug")]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def chance(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Random:
    """All chance of a test, that of the deals and of trio's scheduler included."""
    rng = Random(request.node.name)
    monkeypatch.setattr("arena.server.arena.secrets.token_bytes", rng.randbytes)
    monkeypatch.setattr("trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING", True)
    monkeypatch.setattr("trio._core._run._r", Random(rng.random()))
    return rng


class Bot:
    """A bot on a stream of bytes, with somebody who looks over its shoulder."""

    def __init__(self, arena: Arena, store: MemoryStore, name: str, onlooker: Onlooker) -> None:
        self.token = store.now(partial(bots.register, name=name, owner=name, at=0)).token
        self.shoulder: Shoulder = onlooker.behind(name)
        self.arena = arena
        self.peer: Peer

    def connect(self, nursery: trio.Nursery) -> None:
        self.shoulder.new_stream()
        self.peer = MemoryPeer({"authorization": f"Bearer {self.token}"})

        async def play(stream: MemoryStream[bytes, bytes]) -> None:
            try:
                await Play(self.arena).Play(cast("Any", ParsedStream(stream, pb.PlayRequest.FromString)))
            except* Refused:  # in a group, too, as the bridge finds it there
                pass

        nursery.start_soon(self.peer.converse, play)

    def seen(self, content: bytes) -> pb.PlayResponse:
        message = pb.PlayResponse.FromString(content)
        self.shoulder.see(message)
        return message


class HonestBot(Bot):
    """Plays the last legal action, always."""

    def __init__(self, arena: Arena, store: MemoryStore, name: str, onlooker: Onlooker) -> None:
        super().__init__(arena, store, name, onlooker)
        self.finished = 0
        self.done = trio.Event()
        self.blamed: list[str] = []

    async def play(self) -> None:
        async with trio.open_nursery() as nursery:
            self.connect(nursery)
            hello = pb.Hello(games=list(GAMES), capacity=4)
            self.peer.send(pb.PlayRequest(hello=hello).SerializeToString())
            while True:
                content = await self.peer.receive()
                assert content is not None, self.peer.status
                self.react(self.seen(content))

    def react(self, message: pb.PlayResponse) -> None:
        request = pb.PlayRequest(
            ready=[pb.Ready(match_id=each.match_id) for each in message.invitations],
            answers=[
                pb.Answer(match_id=each.match_id, decision_id=each.decision_id, action=each.legal[-1])
                for each in message.decisions
            ],
        )
        if request.ByteSize():
            self.peer.send(request.SerializeToString())
        self.finished += sum(bool(report.places) for report in message.reports)
        if self.finished:
            self.done.set()
        self.blamed += [
            notice.text
            for notice in message.notices
            if notice.kind <= pb.NOTICE_KIND_SUSPENDED and "no seat at match" not in notice.text
        ]


class FuzzingBot(Bot):
    """Says anything."""

    def __init__(self, arena: Arena, store: MemoryStore, name: str, onlooker: Onlooker, rng: Random) -> None:
        super().__init__(arena, store, name, onlooker)
        self.rng = rng
        self.frames = Frames(rng)
        self.sent = 0

    async def play(self, frames: int) -> None:
        async with trio.open_nursery() as nursery:
            while self.sent < frames:
                self.connect(nursery)
                self.peer.send(self.frames.hello())
                self.sent += 1
                while not self.peer.stream.closed and self.sent < frames:
                    await self.burst(frames)
                if self.rng.random() < 0.5:
                    self.peer.vanish()
                else:
                    self.peer.half_close()
                await self.listen(frames)
            nursery.cancel_scope.cancel()

    async def burst(self, frames: int) -> None:
        for _ in range(self.rng.randint(1, BURST)):
            self.peer.send(self.frames.frame())
            self.sent += 1
        if self.rng.random() < 0.03:
            await trio.sleep(self.rng.choice((0.001, 0.5, 40.0)))
        if self.rng.random() < 0.95:
            await self.listen(frames)

    async def listen(self, frames: int) -> None:
        """Reads what there is."""
        while True:
            await wait_all_tasks_blocked()
            if not self.peer.stream.outgoing:
                return
            content = await self.peer.receive()
            assert content is not None
            message = self.seen(content)
            self.frames.hear(message)
            if self.sent < frames and self.rng.random() < 0.8:
                self.sent += 1
                self.peer.send(self.frames.proper(message))


async def fuzz(store: MemoryStore, rng: Random, frames: int) -> Onlooker:
    """Two bots that say anything sit with one that plays well, and in the end three others play a clean match."""
    onlooker = Onlooker()
    async with serving(store, rng) as arena, trio.open_nursery() as nursery:
        honest = HonestBot(arena, store, "honest", onlooker)
        nursery.start_soon(honest.play)
        fuzzing = [FuzzingBot(arena, store, f"fuzz-{number}", onlooker, Random(rng.random())) for number in range(2)]
        async with trio.open_nursery() as fuzzers:
            for bot in fuzzing:
                fuzzers.start_soon(bot.play, frames // 2)
        others = [HonestBot(arena, store, name, onlooker) for name in ("ann", "bob")]
        for other in others:
            nursery.start_soon(other.play)
        with trio.fail_after(10_000):  # of the virtual clock, which stands still while bots play on and on
            for other in (honest, *others):
                await other.done.wait()
        assert not [text for bot in (honest, *others) for text in bot.blamed]
        for each in (honest, *others, *fuzzing):
            each.shoulder.check_seats()
        nursery.cancel_scope.cancel()
    return onlooker


@pytest.mark.parametrize("seed", range(5))
async def test_whatever_bots_say_the_server_lives_and_keeps_its_secrets(
    store: MemoryStore, chance: Random, autojump_clock: MockClock, seed: int
) -> None:
    seen = await fuzz(store, chance, FRAMES)
    assert seen.decisions > 100, "the fuzzing bots must get to play"
    assert seen.notices > 100
    assert seen.reports


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
async def test_whatever_bots_say_for_long(
    store: MemoryStore, chance: Random, autojump_clock: MockClock, seed: int
) -> None:
    await fuzz(store, chance, 20_000)
