"""No message of a bot breaks the server, disturbs another bot, or makes the server reveal a secret.

The server is complete except for sockets, which `tests/end_to_end` adds. With a virtual clock, hours take no time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any, NamedTuple, cast

import pytest
import structlog
import trio
from arena_client.v1 import play_pb2 as pb
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.api.play_service import PlayService
from arena.api.server import FILES, serve_arena
from arena.match.policy import Policy
from arena.server.arena import Arena, open_arena
from arena.store.bots import bots
from engine.deal import SeededDecks
from engine.game import Decks
from engine.registry import GAMES
from engine.sixth_sense import SIXTH_SENSE
from tests.api.frames import TEXTS, Frames, filled
from tests.api.secrecy_observer import BotObserver, SecrecyObserver
from tests.engine.decks import Arranged
from tests.server.server_rig import MemoryStore, config
from tests.trio_grpc.memory import MemoryPeer, MemoryStream
from trio_grpc.grpc.call import CallRefused
from trio_grpc.grpc.server import Service

Peer = MemoryPeer[bytes, bytes]
LOOKED_UP = 300
"""Number of queries of each kind."""
FRAMES = 2_000
"""Number of frames per seed in the ordinary run."""
BURST = 12
"""Maximum number of frames that a bot sends without reading."""


@asynccontextmanager
async def serving(store: MemoryStore, rng: Random, **changes: Any) -> AsyncIterator[Arena]:
    """Serve every game with seeded randomness. The server must not log an error."""
    settings = config(games=tuple(GAMES.values()), seats=(3,), **{"heartbeat": 10.0} | changes)
    with structlog.testing.capture_logs() as log:
        async with open_arena(settings, cast("Any", store)) as arena:
            yield arena
    assert not [entry for entry in log if entry["log_level"] in ("error", "critical")]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def ours(monkeypatch: pytest.MonkeyPatch, rng: Random) -> None:
    """Use `rng` for all randomness, for the deals as well as for trio's scheduler."""
    monkeypatch.setattr("arena.server.matches.lifecycle.secrets.token_bytes", rng.randbytes)
    monkeypatch.setattr("arena.server.matches.ready_check.secrets.randbits", rng.getrandbits)
    monkeypatch.setattr("arena.server.matchmaking.matchmaker.secrets.SystemRandom", lambda: rng)
    monkeypatch.setattr("trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING", True)
    monkeypatch.setattr("trio._core._run._r", Random(rng.random()))


@pytest.fixture
def chance(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Random:
    """The source of all randomness of a test."""
    rng = Random(request.node.name)
    ours(monkeypatch, rng)
    return rng


class Bot:
    """A bot on a byte stream. All messages to it are checked for secrets."""

    def __init__(self, arena: Arena, store: MemoryStore, name: str, observer: SecrecyObserver) -> None:
        self.token = store.now(partial(bots.register, name=name, owner=name, at=0)).token
        self.bot_observer: BotObserver = observer.of_bot(name)
        self.arena = arena
        self.peer: Peer

    def connect(self, nursery: trio.Nursery) -> None:
        self.bot_observer.new_stream()
        self.peer = MemoryPeer({"authorization": f"Bearer {self.token}"})

        async def play(stream: MemoryStream[bytes, bytes]) -> None:
            try:
                await PlayService(self.arena).Play(stream)
            except* CallRefused:  # the exception may be in a group, as in the server
                pass

        nursery.start_soon(self.peer.converse, play)

    def seen(self, content: bytes) -> pb.PlayResponse:
        message = pb.PlayResponse.FromString(content)
        self.bot_observer.see(message)
        return message


class HonestBot(Bot):
    """A bot that always plays the last legal action."""

    games: Sequence[str] = tuple(GAMES)

    def __init__(self, arena: Arena, store: MemoryStore, name: str, observer: SecrecyObserver) -> None:
        super().__init__(arena, store, name, observer)
        self.finished = 0
        self.done = trio.Event()
        self.blamed: list[str] = []

    async def play(self) -> None:
        async with trio.open_nursery() as nursery:
            self.connect(nursery)
            hello = pb.Hello(games=self.games, capacity=4)
            self.peer.send(pb.PlayRequest(hello=hello).SerializeToString())
            while True:
                content = await self.peer.receive()
                assert content is not None, self.peer.status
                self.react(self.seen(content))

    def react(self, message: pb.PlayResponse) -> None:
        request = pb.PlayRequest(
            ready=[pb.Ready(invitation_id=each.invitation_id) for each in message.invitations],
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
    """A bot that sends random messages."""

    def __init__(self, arena: Arena, store: MemoryStore, name: str, observer: SecrecyObserver, rng: Random) -> None:
        super().__init__(arena, store, name, observer)
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
        """Read the messages that have arrived so far."""
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


async def fuzz(store: MemoryStore, rng: Random, frames: int) -> SecrecyObserver:
    """Two bots that send random messages share a table with a correct bot. Afterwards three other bots play an
    undisturbed match.
    """
    observer = SecrecyObserver()
    async with serving(store, rng) as arena, trio.open_nursery() as nursery:
        honest = HonestBot(arena, store, "honest", observer)
        nursery.start_soon(honest.play)
        fuzzing = [FuzzingBot(arena, store, f"fuzz-{number}", observer, Random(rng.random())) for number in range(2)]
        async with trio.open_nursery() as fuzzers:
            for bot in fuzzing:
                fuzzers.start_soon(bot.play, frames // 2)
        others = [HonestBot(arena, store, name, observer) for name in ("ann", "bob")]
        for other in others:
            nursery.start_soon(other.play)
        with trio.fail_after(10_000):  # seconds of the virtual clock, which does not advance while bots play
            for other in (honest, *others):
                await other.done.wait()
        assert not [text for bot in (honest, *others) for text in bot.blamed]
        for each in (honest, *others, *fuzzing):
            each.bot_observer.check_seats()
        nursery.cancel_scope.cancel()
    return observer


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.thorough
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


# --- two worlds ---


class QuietBot(HonestBot):
    """A bot that accepts a seat at the spy's table and then stays silent."""

    games = ("sixth_sense",)
    choices = 0

    def react(self, message: pb.PlayResponse) -> None:
        due = message.decisions if self.choices else ()
        self.choices -= len(due)
        answers = [
            pb.Answer(match_id=each.match_id, decision_id=each.decision_id, action=each.legal[0]) for each in due
        ]
        ready = [pb.Ready(invitation_id=each.invitation_id) for each in message.invitations]
        self.peer.send(pb.PlayRequest(ready=ready, answers=answers).SerializeToString())


class EagerBot(QuietBot):
    """A bot that also makes its first choice."""

    choices = 1


class World(NamedTuple):
    """The hidden state of a table that a spy watches."""

    swap: tuple[int, int]
    """Two cards of the first round that the two worlds exchange."""
    others: type[QuietBot]

    def decks(self, key: bytes) -> Decks:
        """Return the deal."""
        real = SeededDecks(key)
        change = dict(zip(self.swap, reversed(self.swap), strict=True))
        return Arranged(
            lambda number, size, count: [
                change.get(card, card) if number == 0 else card for card in real(number, size, count)
            ]
        )


async def overheard(world: World, seed: str, frames: int, monkeypatch: pytest.MonkeyPatch) -> pb.PlayResponse:
    """Return all message parts sent to a spy while others' choices are open, except the parts about its own first
    choice.
    """
    rng = Random(seed)
    store, observer, heard = MemoryStore(), SecrecyObserver(), pb.PlayResponse()
    with monkeypatch.context() as patched:
        ours(patched, rng)
        patched.setattr("arena.replay.header.SeededDecks", world.decks)
        quiet = {"policy": Policy(bank=3_600_000_000), "heartbeat": 4e6}
        async with serving(store, rng, **quiet) as arena, trio.open_nursery() as nursery:
            spy = FuzzingBot(arena, store, "spy", observer, Random(f"{seed} spy"))
            spy.connect(nursery)
            spy.peer.send(pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=1)).SerializeToString())
            for name in ("ann", "bob"):
                nursery.start_soon(world.others(arena, store, name, observer).play)
                await wait_all_tasks_blocked()
            for _ in range(frames):
                while spy.peer.stream.outgoing:
                    message = spy.seen(await spy.peer.receive() or b"")
                    heard.MergeFrom(message)
                    spy.frames.hear(message)
                    if message.invitations:
                        spy.peer.send(spy.frames.proper(message))
                    await wait_all_tasks_blocked()
                spy.peer.send(spy.frames.prying())
                await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
    return heard


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.thorough
async def test_what_a_bot_hears_does_not_depend_on_what_it_cannot_know(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The worlds differ in other seats' cards or choices. Up to the middle of the first round, the spy receives the
    same messages.
    """
    rng = Random(seed)
    here = await overheard(World((0, 0), QuietBot), f"{seed}", 300, monkeypatch)
    view = here.decisions[0].sixth_sense
    assert here.notices
    unseen = sorted(set(range(len(SIXTH_SENSE.cards))) - {*view.hand, view.turned})
    for _ in range(3):
        one, other = rng.sample(unseen, 2)
        there = await overheard(World((one, other), QuietBot), f"{seed}", 300, monkeypatch)
        assert there == here
    assert await overheard(World((0, 0), EagerBot), f"{seed}", 300, monkeypatch) == here
    own = view.hand[0], unseen[0]
    assert await overheard(World(own, QuietBot), f"{seed}", 300, monkeypatch) != here, "its own cards it does see"


# --- the query services ---


class LoneCall:
    """A call with one answer or several."""

    peer = "ipv4:127.0.0.1:4711"

    def __init__(self, metadata: Mapping[str, str]) -> None:
        self.metadata = metadata
        self.sent = 0

    def trust(self) -> None:
        pass

    async def send(self, message: Any) -> None:
        await trio.lowlevel.checkpoint()
        assert isinstance(message, bytes) or message.IsInitialized()
        self.sent += 1


METHODS = [
    method
    for file in FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    if service.name != "PlayService"
    for method in service.methods
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
async def test_whatever_is_looked_up_is_found_or_refused(
    store: MemoryStore, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, method: MethodDescriptor
) -> None:
    rng = Random(method.full_name)
    request_type = GetMessageClass(method.input_type)
    services: list[Service] = []

    async def not_served(offered: Sequence[Service], *_: object, **__: object) -> None:
        services.extend(offered)

    monkeypatch.setattr("arena.api.server.serve", not_served)
    ended = Counter[str]()
    async with serving(store, rng) as arena:
        await serve_arena(arena, "")
        [servicer] = {each.servicer for each in services if hasattr(each.servicer, method.name)}
        answer = getattr(servicer, method.name)
        for _ in range(LOOKED_UP):
            request = request_type.FromString(filled(method.input_type, rng))
            scheme, token = rng.choice(("", "Bearer", "Basic")), rng.choice((*TEXTS, store.operator_token))
            call = LoneCall({"authorization": f"{scheme} {token}"} if scheme else {})
            try:
                with trio.move_on_after(1.0) as watched:  # a call that watches matches never ends
                    await answer(request, call)
                ended["WATCHED" if watched.cancelled_caught else "OK"] += 1
            except CallRefused as refused:
                ended[refused.code.name] += 1
    assert ended.total() == LOOKED_UP
    assert not {"INTERNAL", "UNKNOWN"} & set(ended)
