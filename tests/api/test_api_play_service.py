"""A bot's stream from its token to its last message, over an in-memory stream with a virtual clock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import grpc
import pytest
import trio
from arena_client.v1 import play_pb2 as pb
from google.rpc import error_details_pb2, status_pb2
from trio.testing import MockClock

from arena.api.play_service import PlayService
from arena.server.arena import Arena
from arena.server.sessions import admission
from arena.store.base.errors import StoreError
from arena.store.bots import bots
from engine.registry import GAMES
from tests.server.server_rig import MemoryStore, running
from tests.trio_grpc.memory import MemoryPeer
from trio_grpc.grpc.call import CallRefused

GAME, NULLERN = GAMES["sixth_sense"], GAMES["nullern"]
HELLO = pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=1, client="test"))
Peer = MemoryPeer[bytes, bytes]
PROTO = Path(__file__).parents[2] / "proto/arena/v1/play.proto"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def token(store: MemoryStore, name: str) -> str:
    return store.now(partial(bots.register, name=name, owner="", at=0)).token


def call(nursery: trio.Nursery, arena: Arena, metadata: dict[str, str]) -> Peer:
    """Start a call, and return the bot's end of it."""
    peer: Peer = MemoryPeer(metadata)
    nursery.start_soon(peer.converse, PlayService(arena).Play)
    return peer


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


async def ended(peer: Peer) -> CallRefused | None:
    """Return how the call ended. Skip the messages before the end."""
    with trio.fail_after(1000):
        while await peer.receive() is not None:
            pass
    return peer.status


async def until(peer: Peer, done: Callable[[pb.PlayResponse], object]) -> pb.PlayResponse:
    with trio.fail_after(1000):
        while (sent := await peer.receive()) is not None:
            message = pb.PlayResponse.FromString(sent)
            if done(message):
                return message
    raise AssertionError(f"the call ended: {peer.status}")


def answers(message: pb.PlayResponse) -> pb.PlayRequest:
    return pb.PlayRequest(
        ready=[pb.Ready(invitation_id=each.invitation_id) for each in message.invitations],
        answers=[
            pb.Answer(match_id=each.match_id, decision_id=each.decision_id, action=each.legal[0])
            for each in message.decisions
        ],
    )


@pytest.mark.parametrize("metadata", [{}, {"authorization": "Basic xyz"}, {"authorization": "Bearerxyz"}])
async def test_a_call_without_a_token_is_told_how_to_send_one(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock, metadata: dict[str, str]
) -> None:
    async with running(store, games=(GAME,)) as arena:
        status = await ended(call(nursery, arena, metadata))
    assert status is not None
    assert status.code is grpc.StatusCode.UNAUTHENTICATED
    assert "authorization: Bearer TOKEN" in status.text


async def test_a_token_that_nobody_has_is_refused_and_not_repeated(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async with running(store, games=(GAME,)) as arena:
        status = await ended(call(nursery, arena, bearer("arena_guess")))
    assert status is not None
    assert status.code is grpc.StatusCode.UNAUTHENTICATED
    assert "register one" in status.text
    assert "guess" not in status.text


async def test_a_store_in_trouble_is_no_bug_of_the_server(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(store, games=(GAME,)) as arena:

        async def fail(_: object) -> None:
            raise StoreError("the disk is on fire")

        monkeypatch.setattr(store, "read", fail)
        status = await ended(call(nursery, arena, bearer("x")))
    assert status is not None
    assert (status.code, status.text) == (grpc.StatusCode.UNAVAILABLE, "the disk is on fire")


async def test_a_welcome_names_those_features_of_the_client_that_the_server_has(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def greeted(name: str) -> list[str]:
        async with running(store, games=(GAME,)) as arena:
            peer = call(nursery, arena, bearer(token(store, name)))
            hello = pb.Hello(games=["sixth_sense"], capacity=1, features=["of-tomorrow", "made-up", "other"])
            peer.send(pb.PlayRequest(hello=hello).SerializeToString())
            return list((await until(peer, lambda message: message.HasField("welcome"))).welcome.features)

    assert await greeted("ann") == [], "none is defined"
    monkeypatch.setattr(admission, "FEATURES", ("made-up", "of-tomorrow", "asked-by-nobody"))
    assert await greeted("bob") == ["of-tomorrow", "made-up"]


async def test_a_welcome_confirms_the_named_ladders_with_their_terms(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def greeted(name: str, *ladders: str) -> pb.Welcome:
        async with running(store, games=(GAME, NULLERN)) as arena:
            peer = call(nursery, arena, bearer(token(store, name)))
            hello = pb.Hello(games=["sixth_sense", "nullern"], capacity=1, ladders=ladders)
            peer.send(pb.PlayRequest(hello=hello).SerializeToString())
            return (await until(peer, lambda message: message.HasField("welcome"))).welcome

    default = await greeted("ann")
    assert [game.name for game in default.games] == ["sixth_sense", "nullern"]
    assert not default.ladders, "who names none has the bytes of before"
    named = await greeted("bob", "nullern")
    assert [game.name for game in named.games] == ["nullern"]
    [ladder] = named.ladders
    assert (ladder.name, ladder.game, dict(ladder.options)) == ("nullern", "nullern", {})
    assert set(ladder.seats) <= set(NULLERN.seats)
    assert ladder.seats
    assert ladder.conduct == default.conduct


@pytest.mark.parametrize(
    ("first", "code", "text"),
    [
        (pb.PlayRequest(), grpc.StatusCode.INVALID_ARGUMENT, "the first message must hold a hello"),
        (
            pb.PlayRequest(hello=pb.Hello(games=["go"], capacity=1)),
            grpc.StatusCode.FAILED_PRECONDITION,
            "this server plays sixth_sense; the bot asked for go",
        ),
        (
            pb.PlayRequest(hello=pb.Hello(games=["go"], ladders=["go"])),
            grpc.StatusCode.FAILED_PRECONDITION,
            "this server plays sixth_sense; the bot asked for go",
        ),
        (
            pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], ladders=["sixth_sense", "nullern"])),
            grpc.StatusCode.FAILED_PRECONDITION,
            "this server has no ladder 'nullern' for the bot's games; it has sixth_sense",
        ),
    ],
)
async def test_a_first_message_that_will_not_do_ends_the_call_with_a_reason(
    store: MemoryStore,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    first: pb.PlayRequest,
    code: grpc.StatusCode,
    text: str,
) -> None:
    async with running(store, games=(GAME,)) as arena:
        peer = call(nursery, arena, bearer(token(store, "ann")))
        peer.send(first.SerializeToString())
        status = await ended(peer)
        assert len(arena.players) == 0
    assert status is not None
    assert (status.code, status.text) == (code, text)


async def test_nonsense_in_a_later_message_ends_the_call_with_a_reason(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async with running(store, games=(GAME,)) as arena:
        peer = call(nursery, arena, bearer(token(store, "ann")))
        peer.send(HELLO.SerializeToString())
        await until(peer, lambda message: message.HasField("welcome"))
        peer.send(HELLO.SerializeToString())
        status = await ended(peer)
    assert status is not None
    assert status.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "a hello came twice" in status.text


async def test_saying_nothing_at_all_ends_the_call_in_good_order(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async with running(store, games=(GAME,)) as arena:
        peer = call(nursery, arena, bearer(token(store, "ann")))
        peer.half_close()
        assert await ended(peer) is None


@pytest.mark.parametrize("reads", [True, False])
async def test_a_bot_that_vanishes_ends_its_call_and_nothing_else(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock, reads: bool
) -> None:
    async with running(store, games=(GAME,), heartbeat=1.0) as arena:
        peer = call(nursery, arena, bearer(token(store, "ann")))
        peer.send(HELLO.SerializeToString())
        if reads:
            await until(peer, lambda message: message.HasField("welcome"))
        await trio.sleep(5)  # heartbeats wait for the bot, which does not read
        peer.vanish()
        assert await ended(peer) is None
        assert len(arena.players) == 0


async def test_two_bots_play_a_match_of_messages(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async with running(store, games=(GAME,)) as arena:
        peers = [call(nursery, arena, bearer(token(store, name))) for name in ("ann", "bob")]
        reports: list[pb.MatchReport] = []
        everybody_knows = trio.Event()

        async def play(peer: Peer) -> None:
            peer.send(HELLO.SerializeToString())
            while True:
                message = await until(peer, lambda _: True)
                peer.send(answers(message).SerializeToString())
                reports.extend(message.reports)
                if len({report.seat for report in reports}) == 2:
                    everybody_knows.set()

        async with trio.open_nursery() as players:
            for peer in peers:
                players.start_soon(play, peer)
            with trio.fail_after(1000):
                await everybody_knows.wait()
            players.cancel_scope.cancel()
    first, second = reports[:2]
    assert {first.seat, second.seat} == {0, 1}
    assert (first.scores, first.places) == (second.scores, second.places)
    assert first.rating.after - first.rating.before == pytest.approx(second.rating.before - second.rating.after)


async def test_the_end_of_a_stream_carries_its_reason_for_programs(
    store: MemoryStore, autojump_clock: MockClock
) -> None:
    async with running(store, games=(GAME,)) as arena:
        peer: MemoryPeer[bytes, bytes] = MemoryPeer({"authorization": "Bearer nobody's"})
        await peer.converse(PlayService(arena).Play)
        assert peer.status is not None
        told = status_pb2.Status.FromString(peer.status.details)
        info = error_details_pb2.ErrorInfo()
        assert told.details[0].Unpack(info)
        assert (told.code, told.message) == (grpc.StatusCode.UNAUTHENTICATED.value[0], peer.status.text)
        assert (info.reason, info.domain) == ("TOKEN_UNKNOWN", "arena")
