"""Calls about events with every status, and bots that enter events as they connect. In memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import grpc
import pytest
from arena_client.v1 import bots_pb2, operator_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from trio.testing import MockClock

from arena.api.operator_service import OperatorService
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import Closed
from arena.store.bots import bots
from arena.store.matches import contests
from tests.api.services_rig import CALL, Rig, UnaryCall, refused, services
from tests.server.server_rig import GAME, HouseBot

INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
DENIED, PRECONDITION = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION


@pytest.fixture
async def rig(autojump_clock: MockClock) -> AsyncIterator[Rig]:
    async with services(games=(GAME,), house_bots=[HouseBot("house-one")], house=True) as rig:
        yield rig


async def created(rig: Rig, **changes: Any) -> None:
    start = Timestamp()
    start.FromMicroseconds(changes.pop("at", now_us() + 3_600_000_000))
    wanted: dict[str, Any] = {"name": "friday", "ladder": GAME.name, "seats": 2, "matches": 9, "start": start}
    await OperatorService(rig.arena).CreateEvent(operator_pb2.CreateEventRequest(**wanted | changes), rig.operator)


async def registered(rig: Rig, name: str, owner: str = "") -> UnaryCall:
    request = bots_pb2.RegisterBotRequest(name=name, owner=owner)
    return UnaryCall(f"Bearer {(await rig.accounts.RegisterBot(request, CALL)).token}")


async def enter(rig: Rig, event: str, bot: str, call: UnaryCall) -> None:
    await rig.accounts.EnterEvent(bots_pb2.EnterEventRequest(event=event, bot=bot), call)


def entered(rig: Rig, name: str = "friday") -> list[str]:
    event = rig.store.now(partial(contests.find, name=name))
    return [each.name for each in rig.store.now(partial(contests.entrants, event_id=event.id))]


async def test_an_event_is_announced_entered_and_cancelled(rig: Rig) -> None:
    ann, bob = await registered(rig, "ann"), await registered(rig, "bob")
    await created(rig, entrants=["ann"], seconds=600, matches=0, everyone=True)
    await enter(rig, "friday", "bob", bob)
    assert entered(rig) == ["ann", "bob"]
    plan = rig.store.now(partial(contests.find, name="friday")).plan
    assert (plan.format, plan.matches, plan.seconds, plan.entry) == ("all", None, 600, "open")
    await created(rig, name="closed", invited=True)
    text = "the event closed is for invited bots: ask its operator to enter ann"
    assert await refused(enter(rig, "closed", "ann", ann)) == (PRECONDITION, text)
    await enter(rig, "closed", "ann", rig.operator)
    operator = OperatorService(rig.arena)
    cancel = operator_pb2.CancelEventRequest(name="closed", reason="rain")
    await operator.CancelEvent(cancel, rig.operator)
    assert (await refused(operator.CancelEvent(cancel, rig.operator)))[0] is PRECONDITION
    code, text = await refused(operator.StartEvent(operator_pb2.StartEventRequest(name="friday"), rig.operator))
    assert (code, "nobody checked in" in text) == (PRECONDITION, True)


async def test_what_is_not_possible_is_refused_with_its_status(rig: Rig) -> None:
    ann = await registered(rig, "ann", "anna")
    other = await registered(rig, "ann-2", "Anna")
    await created(rig)
    await enter(rig, "friday", "ann", ann)
    for changes, code in (
        ({}, grpc.StatusCode.ALREADY_EXISTS),
        ({"name": "bad", "ladder": "chess"}, INVALID),
        ({"name": "bad", "at": 1}, INVALID),
        ({"name": "bad", "matches": 0}, INVALID),
        ({"name": "No way"}, INVALID),
        ({"name": "bad", "entrants": ["nobody"]}, NOT_FOUND),
        ({"name": "bad", "entrants": ["ann", "ann-2"]}, PRECONDITION),
    ):
        assert (await refused(created(rig, **changes)))[0] is code, changes
    assert [each.plan.name for each in rig.store.now(contests.list_events)] == ["friday"]
    assert (await refused(enter(rig, "friday", "ann-2", other)))[0] is PRECONDITION
    assert (await refused(enter(rig, "friday", "ann", other)))[0] is DENIED
    assert (await refused(enter(rig, "sunday", "ann", ann)))[0] is NOT_FOUND
    operator = OperatorService(rig.arena)
    for call in (
        operator.CreateEvent(operator_pb2.CreateEventRequest(), ann),
        operator.StartEvent(operator_pb2.StartEventRequest(), ann),
        operator.CancelEvent(operator_pb2.CancelEventRequest(), ann),
    ):
        assert (await refused(call))[0] is DENIED


async def test_a_bot_enters_by_its_hello_and_comes_back(rig: Rig) -> None:
    await registered(rig, "ann")
    await created(rig)
    ann = rig.store.now(partial(bots.known, name="ann"))
    for _ in range(2):
        await rig.arena.events.greet(ann, [("friday", bytes(16))], [GAME.name])
    assert entered(rig) == ["ann"]
    with pytest.raises(Closed, match=r"hello\.events: there is no event 'sunday'; `arena event list` shows all events"):
        await rig.arena.events.greet(ann, [("sunday", b"")], [GAME.name])
