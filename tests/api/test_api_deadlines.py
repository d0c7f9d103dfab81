"""The server does not wait for peers that neither send nor read. It ends the calls of a revoked token."""

from __future__ import annotations

from functools import partial
from typing import Any

import grpc
import pytest
import trio
from arena_client.v1 import matches_pb2, operator_pb2
from arena_client.v1 import play_pb2 as pb
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.api.operator_service import OperatorService
from arena.api.play_service import PlayService
from arena.api.query_services import QueryServices
from arena.replay.hash_chain import pack_replay
from arena.server.sessions.past import past
from arena.store.bots import bots
from arena.store.matches import matches
from engine.registry import GAMES
from tests.server.server_rig import MemoryStore, running
from tests.trio_grpc.memory import MemoryPeer
from trio_grpc.grpc.call import SEND_LIMIT

GAME = GAMES["sixth_sense"]
HELLO = pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=1)).SerializeToString()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_a_stream_without_a_hello_is_closed(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    store = MemoryStore()
    token = store.now(partial(bots.register, name="ann", owner="", at=0)).token
    async with running(store, games=(GAME,)) as arena:
        peer: MemoryPeer[Any, Any] = MemoryPeer(bearer(token))
        began = trio.current_time()
        await peer.converse(PlayService(arena).Play)
        assert trio.current_time() - began == pytest.approx(10.0)
        assert peer.status is not None
        assert peer.status.code is grpc.StatusCode.DEADLINE_EXCEEDED
        assert peer.status.text == "no hello came within 10 s of the opening of the stream"


async def test_a_token_that_is_revoked_before_the_hello_opens_nothing(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    store = MemoryStore()
    token = store.now(partial(bots.register, name="ann", owner="", at=0)).token
    async with running(store, games=(GAME,)) as arena:
        peer: MemoryPeer[Any, Any] = MemoryPeer(bearer(token))
        nursery.start_soon(peer.converse, PlayService(arena).Play)
        await wait_all_tasks_blocked()
        await arena.accounts.revoke("ann")
        peer.send(HELLO)
        assert await peer.receive() is None
        assert peer.status is not None
        assert peer.status.code is grpc.StatusCode.UNAUTHENTICATED
        assert len(arena.players) == 0


async def test_a_token_that_is_revoked_while_a_hello_is_looked_into_opens_nothing(
    nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    token = store.now(partial(bots.register, name="ann", owner="", at=0)).token
    look_up = store.read
    async with running(store, games=(GAME,)) as arena:

        async def read(job: Any) -> object:
            if getattr(getattr(job, "func", None), "__module__", "") == past.__module__:
                await arena.accounts.revoke("ann")
            return await look_up(job)

        monkeypatch.setattr(store, "read", read)
        peer: MemoryPeer[Any, Any] = MemoryPeer(bearer(token))
        peer.send(HELLO)
        await peer.converse(PlayService(arena).Play)
        assert peer.status is not None
        assert peer.status.code is grpc.StatusCode.UNAUTHENTICATED
        assert len(arena.players) == 0


async def test_who_does_not_read_a_replay_is_not_waited_for(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    store = MemoryStore()
    players = [store.register(name).id for name in ("ann", "bob")]
    match = store.now(partial(matches.begin, game=GAME.name, options={}, bots=players, at=1))
    result: dict[str, Any] = {"scores": [1, 2], "places": [2, 1], "forced": [0, 0], "counts": [True, True], "at": 2}
    long = pack_replay(f'{{"in":{number}}}' for number in range(5000))
    store.now(partial(matches.finish, match_id=match, **result, replay=lambda _: long))
    async with running(store, games=(GAME,)) as arena:
        peer: MemoryPeer[Any, Any] = MemoryPeer()
        began = trio.current_time()
        await peer.converse(partial(QueryServices(arena).GetReplay, matches_pb2.GetReplayRequest(match_id=match)))
        assert trio.current_time() - began == pytest.approx(SEND_LIMIT)
        assert peer.status is not None
        assert peer.status.code is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_drain_is_watched_to_its_last_message(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    store = MemoryStore()
    async with running(store, games=(GAME,)) as arena:
        peer: MemoryPeer[Any, Any] = MemoryPeer(bearer(store.operator_token))
        request = operator_pb2.DrainRequest(limit_ms=5000)
        nursery.start_soon(peer.converse, partial(OperatorService(arena).Drain, request))
        said = []
        while (message := await peer.receive()) is not None:
            said.append((message.playing, message.done))
        assert said[-1] == (0, True)
        assert peer.status is None
        assert arena.drained.is_set()


@pytest.mark.parametrize("token", ["", "guess"])
async def test_only_the_operator_drains(nursery: trio.Nursery, autojump_clock: MockClock, token: str) -> None:
    async with running(MemoryStore(), games=(GAME,)) as arena:
        peer: MemoryPeer[Any, Any] = MemoryPeer(bearer(token) if token else {})
        await peer.converse(partial(OperatorService(arena).Drain, operator_pb2.DrainRequest()))
        assert peer.status is not None
        assert peer.status.code is grpc.StatusCode.PERMISSION_DENIED
        assert not arena.stopping.is_set()
