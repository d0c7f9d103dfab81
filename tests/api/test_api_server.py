"""All services on one port, including health and reflection, over a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any, TypeVar

import grpc
import pytest
import trio
from arena_client.v1 import game_pb2, game_pb2_grpc, matches_pb2, matches_pb2_grpc, play_pb2, play_pb2_grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from arena.api.server import NAMES, serve_arena
from arena.replay.hash_chain import pack_replay, with_chain
from arena.server.arena import Arena
from arena.store.bots import bots
from arena.store.matches import matches
from engine.registry import GAMES
from tests.server.server_rig import MemoryStore, running

pytestmark = pytest.mark.process

T = TypeVar("T")
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
PATIENCE = 20.0
REFLECTION = ("v1", "v1alpha")


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Arena, grpc.Channel]]:
    """Run a server and yield a connection to it."""
    async with running(MemoryStore(), games=tuple(GAMES.values())) as arena, trio.open_nursery() as nursery:
        port = await nursery.start(partial(serve_arena, arena, "127.0.0.1:0"))
        with grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
            yield arena, channel
        nursery.cancel_scope.cancel()


async def ask(call: Callable[..., T], request: object) -> T:
    return await trio.to_thread.run_sync(partial(call, request, timeout=PATIENCE))


def health(channel: grpc.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)


async def test_every_service_is_healthy_until_the_server_stops() -> None:
    assert len(NAMES) == 9
    async with serving() as (arena, channel):
        check, listing = health(channel).Check, health(channel).List
        for name in ("", *NAMES):
            assert (await ask(check, health_pb2.HealthCheckRequest(service=name))).status == SERVING
        await arena.drain(0)
        for name in ("", *NAMES):
            assert (await ask(check, health_pb2.HealthCheckRequest(service=name))).status == NOT_SERVING
        listed = await ask(listing, health_pb2.HealthListRequest())  # type: ignore[attr-defined]  # stubs are older
        assert {name: each.status for name, each in listed.statuses.items()} == dict.fromkeys(("", *NAMES), NOT_SERVING)


async def test_the_health_of_a_service_that_does_not_exist_is_not_found() -> None:
    async with serving() as (_, channel):
        with pytest.raises(grpc.RpcError) as caught:
            await ask(health(channel).Check, health_pb2.HealthCheckRequest(service="arena.v1.Chess"))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        assert "'arena.v1.Chess'" in str(caught.value.details())


async def test_who_watches_hears_of_the_stop() -> None:
    async with serving() as (arena, channel):
        known = health(channel).Watch(health_pb2.HealthCheckRequest(service="arena.v1.PlayService"), timeout=PATIENCE)
        unknown = health(channel).Watch(health_pb2.HealthCheckRequest(service="arena.v1.Chess"), timeout=PATIENCE)
        assert (await in_thread(known)).status == SERVING
        assert (await in_thread(unknown)).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        await arena.drain(0)
        assert (await in_thread(known)).status == NOT_SERVING
        assert await in_thread(known) is None, "that was its last word"
        assert await in_thread(unknown) is None
        late = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
        assert (await in_thread(late)).status == NOT_SERVING


async def in_thread(answers: Iterator[Any]) -> Any:
    """Return the next answer, or None after the last."""
    return await trio.to_thread.run_sync(next, answers, None)


@pytest.mark.parametrize("version", REFLECTION)
async def test_reflection_lists_every_service(version: str) -> None:
    async with serving() as (_, channel):
        answer = await reflected(channel, version, list_services="")
        listed = {service.name for service in answer.list_services_response.service}
        assert listed == {
            *NAMES,
            "grpc.health.v1.Health",
            *(f"grpc.reflection.{each}.ServerReflection" for each in REFLECTION),
        }


@pytest.mark.parametrize("version", REFLECTION)
async def test_who_knows_nothing_but_reflection_can_call_every_service(version: str) -> None:
    """The client works like grpcurl: it gets descriptors from the server and builds messages from them."""
    async with serving() as (_, channel):
        pool = DescriptorPool()
        for name in ("arena.v1.GameService", "grpc.reflection.v1.ServerReflection"):
            answer = await reflected(channel, version, file_containing_symbol=name)
            for file in answer.file_descriptor_response.file_descriptor_proto:
                pool.AddSerializedFile(file)  # the response contains a file's imports before the file
        method = pool.FindServiceByName("arena.v1.GameService").FindMethodByName("ListGames")
        request, response = map(GetMessageClass, (method.input_type, method.output_type))
        call = channel.unary_unary(
            "/arena.v1.GameService/ListGames",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        games: Any = await ask(call, request())
        assert [game.name for game in games.games] == list(GAMES)
        described = pool.FindServiceByName("grpc.reflection.v1.ServerReflection").FindMethodByName(
            "ServerReflectionInfo"
        )
        alike = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"].methods_by_name["ServerReflectionInfo"]
        for new, old in ((described.input_type, alike.input_type), (described.output_type, alike.output_type)):
            assert {(each.name, each.number) for each in new.fields} == {
                (each.name, each.number) for each in old.fields
            }


async def reflected(channel: grpc.Channel, version: str, **request: str) -> Any:
    """Return the answer of one version of the reflection service. Both versions encode their messages in the same
    way.
    """
    call = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    asked = reflection_pb2.ServerReflectionRequest(**request)  # type: ignore[arg-type]
    return await in_thread(call(iter([asked]), timeout=PATIENCE))


async def test_the_catalogues_are_there_for_the_asking() -> None:
    async with serving() as (_, channel):
        answer = await ask(game_pb2_grpc.GameServiceStub(channel).ListGames, game_pb2.ListGamesRequest())
        assert [game.name for game in answer.games] == list(GAMES)


@pytest.mark.parametrize("size", [1, 50_000, 70_000])
async def test_a_replay_of_any_size_comes_to_its_end(size: int) -> None:
    """A replay may fit into one piece: its end then arrives while the piece is still in transit."""
    stored = pack_replay(['{"noise":"' + Random(size).randbytes(size).hex() + '"}'])
    async with serving() as (arena, channel):
        store = arena.store
        players = [
            (await store.write(partial(bots.register, name=name, owner="", at=1))).bot.id for name in ("ann", "bob")
        ]
        match = await store.write(partial(matches.begin, game="sixth_sense", options={}, bots=players, at=1))
        result: dict[str, Any] = {
            "scores": [1, 2],
            "places": [2, 1],
            "forced": [0, 0],
            "counts": [True, True],
            "at": 2,
            "replay": lambda _: stored,
        }
        await store.write(partial(matches.finish, match_id=match, **result))
        stub: Any = matches_pb2_grpc.MatchServiceStub(channel)
        pieces = stub.GetReplay(matches_pb2.GetReplayRequest(match_id=match), timeout=PATIENCE)
        chunks = await trio.to_thread.run_sync(lambda: [piece.chunk for piece in pieces])
        assert b"".join(chunks) == with_chain(stored.content)
        assert len(chunks) == (2 if size == 70_000 else 1)


async def test_a_refusal_that_follows_the_welcome_at_once_arrives() -> None:
    async with serving() as (arena, channel):
        token = (await arena.accounts.register("ann", "", "", by_invitation=False)).token
        hello = play_pb2.PlayRequest(hello=play_pb2.Hello(games=["sixth_sense"], capacity=1))
        stub: Any = play_pb2_grpc.PlayServiceStub(channel)
        metadata = (("authorization", f"Bearer {token}"),)
        call = stub.Play(iter([hello, hello]), metadata=metadata, timeout=PATIENCE)
        with pytest.raises(grpc.RpcError) as caught:
            await trio.to_thread.run_sync(list, call)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "a hello came twice" in str(caught.value.details())


async def test_an_address_that_is_none_is_named() -> None:
    async with running(MemoryStore(), games=tuple(GAMES.values())) as arena:
        with pytest.raises(RuntimeError, match=r"nowhere\.invalid:1"):
            await serve_arena(arena, "nowhere.invalid:1")
