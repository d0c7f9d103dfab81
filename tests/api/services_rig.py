"""Calls of the query and registration services in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from arena_client.v1 import matches_pb2
from sqlalchemy import Connection

from arena.api.bot_service import BotService
from arena.api.query_services import QueryServices
from arena.replay.hash_chain import PackedReplay
from arena.server.arena import Arena
from arena.store.base.rows import Interruption
from arena.store.bots.bots import BotId
from arena.store.matches import matches
from engine.registry import GAMES
from tests.server.server_rig import MemoryStore, running
from trio_grpc.grpc.call import CallRefused

GAME = GAMES["sixth_sense"]


class UnaryCall:
    """A call with an optional header "authorization". It records whether the service trusted the caller."""

    peer = "ipv4:127.0.0.1:4711"

    def __init__(self, authorization: str = "") -> None:
        self.metadata = {"authorization": authorization} if authorization else {}
        self.trusted = False

    def trust(self) -> None:
        self.trusted = True


CALL = UnaryCall()


class Rig:
    def __init__(self, arena: Arena, store: MemoryStore) -> None:
        self.arena = arena
        self.store = store
        self.query_services = QueryServices(arena)
        self.accounts = BotService(arena)
        self.operator = UnaryCall(f"Bearer {store.operator_token}")

    def bots(self, *names: str) -> list[BotId]:
        return [self.store.register(name).id for name in names]

    def begin(self, players: list[BotId], game: str = "sixth_sense", ladder_id: str = "") -> matches.MatchId:
        job = partial(matches.begin, game=game, options={}, bots=players, at=1_500_000, ladder_id=ladder_id)
        return self.store.now(job)

    def finish(self, match_id: matches.MatchId, scores: list[int], replay: bytes = b"replay") -> None:
        def job(connection: Connection) -> None:
            places = [1 + sum(other > score for other in scores) for score in scores]
            forced = list(range(len(scores)))
            matches.finish(
                connection,
                match_id,
                scores=scores,
                places=places,
                forced=forced,
                counts=[True] * len(scores),
                at=2_000_001,
                replay=lambda _: PackedReplay(replay, None),
            )

        self.store.now(job)

    def interrupt(self, match_id: matches.MatchId, reason: str = Interruption.JOURNAL_LOST.in_words()) -> None:
        self.store.now(partial(matches.interrupt, match_ids=[match_id], reason=reason, at=3_000_000))

    async def listed(self, **request: Any) -> list[matches_pb2.MatchEntry]:
        answer = await self.query_services.ListMatches(matches_pb2.ListMatchesRequest(**request), CALL)
        return list(answer.matches)

    async def replay(self, match_id: int) -> list[bytes]:
        chunks: list[bytes] = []

        async def send(message: matches_pb2.GetReplayResponse) -> None:
            chunks.append(message.chunk)

        await self.query_services.GetReplay(
            matches_pb2.GetReplayRequest(match_id=match_id), cast("Any", SimpleNamespace(send=send))
        )
        return chunks


@asynccontextmanager
async def services(**settings: Any) -> AsyncIterator[Rig]:
    store = MemoryStore()
    async with running(store, **{"games": (GAME,)} | settings) as arena:
        yield Rig(arena, store)


async def refused(answer: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(CallRefused) as caught:
        await answer
    return caught.value.code, caught.value.text
