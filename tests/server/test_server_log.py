"""The log of results as bots receive it: in the welcome, with each report, and through `LogService`."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import grpc
import pytest
from arena_client.v1 import log_pb2, play_pb2

from arena.api.codec import PROTOBUF
from arena.api.query_services import LogService
from arena.log.head import LogHead
from arena.log.keys import LogKeys
from arena.log.tree import consistent
from arena.server.sessions.messages import Outgoing
from arena.store.base import leaves as log
from arena.store.matches import matches
from tests.server.server_rig import Bot, Hall, MemoryStore
from trio_grpc.grpc.call import CallRefused

pytestmark = pytest.mark.virtual_clock

CALL: Any = None
"""A call; no method of the log's service uses it."""


async def test_every_report_carries_its_leaf_and_the_proof_that_a_head_includes_it(
    hall: Hall, store: MemoryStore
) -> None:
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
    async with hall.open():
        for bot in (ann, bob):
            hall.join(bot)
        await ann.until(lambda: len(ann.reports) >= 3)
        await bob.until(lambda: len(bob.reports) >= 3)
        keys = LogKeys(store.now(log.key_leaves))
        for number, (mine, other) in enumerate(zip(ann.reports[:3], bob.reports[:3], strict=True), 2):
            entry = mine.entry
            assert entry is not None
            assert entry == other.entry
            assert entry.number == number
            assert entry.included
            assert keys.signed(entry.head)
            leaf = json.loads(entry.leaf)
            assert leaf["kind"] == "rated"
            assert leaf["match"] == mine.match_id
            assert (tuple(leaf["places"]), tuple(leaf["points"])) == (mine.places, mine.scores)
            assert sorted(leaf["names"]) == ["ann", "bob"]
            outgoing = Outgoing()
            outgoing.reports.append(mine)
            sent = play_pb2.PlayResponse.FromString(PROTOBUF.encode(outgoing)).reports[0].entry
            assert (sent.number, sent.leaf, sent.head.root) == (entry.number, entry.leaf, entry.head.root)
            assert tuple(sent.proof) == entry.proof


async def test_a_report_that_is_repeated_carries_the_same_leaf_and_a_void_is_another(
    hall: Hall, store: MemoryStore
) -> None:
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
    async with hall.open(ann, bob) as arena:
        await ann.until(lambda: ann.reports)
        before = ann.reports[0].entry
        store.now(partial(matches.void, match_id=1, reason="sybils", at=5))
        back = ann.again()
        back.hello = back.hello._replace(reports_after=1)
        hall.join(back)
        await back.until(lambda: back.reports)
        again = next(report.entry for report in back.reports if report.match_id == 1)
        assert before is not None
        assert again is not None
        assert (again.number, again.leaf) == (before.number, before.leaf)
        assert again.head.size > before.head.size
        assert again.included
        answer = await LogService(arena).ListEntries(log_pb2.ListEntriesRequest(match_id=1), CALL)
        assert [json.loads(entry.leaf)["kind"] for entry in answer.entries] == ["rated", "void"]
        nothing = await LogService(arena).ListEntries(log_pb2.ListEntriesRequest(match_id=1 << 63), CALL)
        assert not nothing.entries


async def test_a_welcome_shows_the_log_and_the_service_proves_that_it_only_grew(hall: Hall, store: MemoryStore) -> None:
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
    async with hall.open() as arena:
        service = LogService(arena)
        hall.join(ann, bob)
        await ann.until(lambda: ann.reports)
        assert ann.welcome is not None
        shown = ann.welcome.log
        assert shown is not None
        assert (shown.head.size, shown.keys, shown.restores) == (1, store.now(log.key_leaves), ())
        now = (await service.GetLog(log_pb2.GetLogRequest(), CALL)).log
        assert tuple(now.keys) == shown.keys
        request = log_pb2.GetConsistencyRequest(first=1, second=now.head.size)
        proof = (await service.GetConsistency(request, CALL)).proof
        assert consistent(1, shown.head.root, now.head.size, now.head.root, tuple(proof))
        assert LogKeys(shown.keys).signed(LogHead(now.head.size, now.head.root, now.head.signature))
        for first, second in ((2, 1), (1, 1 << 60)):
            with pytest.raises(CallRefused) as caught:
                await service.GetConsistency(log_pb2.GetConsistencyRequest(first=first, second=second), CALL)
            assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
