"""Invitations to ladders and seasons: the operator's calls and the bot's own, with every status. In memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from arena_client.v1 import bots_pb2, operator_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from trio.testing import MockClock

from arena.api.operator_service import OperatorService
from arena.log.leaf import decode_leaf
from arena.server.config import LadderTable
from arena.server.runtime.wall_clock import now_us
from arena.store.base import leaves as log
from arena.store.bots import entry
from arena.store.bots.entry import NewInvitations
from tests.api.services_rig import CALL, GAME, Rig, UnaryCall, refused, services

LADDERS = (
    LadderTable(GAME, (2,), name="class", entry="invited"),
    LadderTable(GAME, (2,), name="other", entry="invited"),
    LadderTable(GAME, (2,), name="listed", entry=("anna",)),
)
DENIED, PRECONDITION = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION
INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND


@pytest.fixture
async def rig(autojump_clock: MockClock) -> AsyncIterator[Rig]:
    async with services(ladders=LADDERS) as rig:
        yield rig


@pytest.fixture
def operator(rig: Rig) -> OperatorService:
    return OperatorService(rig.arena)


async def created(rig: Rig, **request: Any) -> list[tuple[str, str]]:
    """The owners and codes of created invitations."""
    wanted = operator_pb2.CreateInvitationsRequest(**request)
    answer = await OperatorService(rig.arena).CreateInvitations(wanted, rig.operator)
    return [(each.owner, each.invitation) for each in answer.invitations]


async def registered(rig: Rig, name: str, code: str = "") -> str:
    request = bots_pb2.RegisterBotRequest(name=name, invitation=code)
    return (await rig.accounts.RegisterBot(request, CALL)).token


async def join(rig: Rig, token: str, ladder: str, code: str) -> None:
    request = bots_pb2.JoinLadderRequest(ladder=ladder, invitation=code)
    await rig.accounts.JoinLadder(request, UnaryCall(f"Bearer {token}"))


async def test_invitations_of_a_class_are_made_listed_and_revoked(rig: Rig, operator: OperatorService) -> None:
    made = await created(rig, owner_prefix="class-", count=3, ladder="class", expires=Timestamp(seconds=2_000_000_000))
    assert [owner for owner, _ in made] == ["class-1", "class-2", "class-3"]
    [(owner, _)] = await created(rig, owner="anna")
    assert owner == "anna"
    await registered(rig, "ann", made[0][1])
    await operator.RevokeInvitation(operator_pb2.RevokeInvitationRequest(number=2), rig.operator)

    pages = operator_pb2.ListInvitationsRequest(limit=3)
    answer = await operator.ListInvitations(pages, rig.operator)
    first, second, third = answer.invitations
    assert (first.number, first.owner, first.ladder, first.used_by) == (1, "class-1", "class", "ann")
    assert first.expires.seconds == 2_000_000_000
    assert [each.HasField("revoked") for each in (first, second, third)] == [False, True, False]
    pages.page_token = answer.next_page_token
    answer = await operator.ListInvitations(pages, rig.operator)
    [last] = answer.invitations
    assert (last.number, last.owner, last.ladder, last.HasField("expires")) == (4, "anna", "", False)
    assert not answer.next_page_token


async def test_only_the_operator_makes_invitations_and_seasons(rig: Rig, operator: OperatorService) -> None:
    token = await registered(rig, "ann")
    for call in (UnaryCall(), UnaryCall(f"Bearer {token}")):
        for answer in (
            operator.CreateInvitations(operator_pb2.CreateInvitationsRequest(owner="ann"), call),
            operator.ListInvitations(operator_pb2.ListInvitationsRequest(), call),
            operator.RevokeInvitation(operator_pb2.RevokeInvitationRequest(number=1), call),
            operator.BeginSeason(operator_pb2.BeginSeasonRequest(ladder="class"), call),
        ):
            assert (await refused(answer))[0] is DENIED
        assert not call.trusted
    assert rig.store.now(entry.list_invitations) == ()
    assert rig.arena.ladder_ids["class"] == "class"


@pytest.mark.parametrize(
    ("request_", "code", "why"),
    [
        ({}, INVALID, "name one owner, or the beginning of the owners' names"),
        ({"owner_prefix": "class-"}, INVALID, "0 invitations are not made at once; 1 to 1000 are"),
        ({"owner_prefix": "class-", "count": 10**6}, INVALID, "1000000 invitations are not made at once"),
        ({"owner_prefix": "a class ", "count": 2}, INVALID, "the owner's name 'a class 2' is not allowed"),
        ({"owner": "a b"}, INVALID, "the owner's name 'a b' is not allowed"),
        ({"owner": "ann", "expires": Timestamp(seconds=1)}, INVALID, "expires in the future"),
        ({"owner": "ann", "expires": Timestamp(seconds=-(1 << 62))}, INVALID, "expires in the future"),
        ({"owner": "ann", "expires": Timestamp(seconds=1 << 62)}, INVALID, "before the year 10000"),
        ({"owner": "ann", "ladder": "clas"}, PRECONDITION, "no ladder 'clas'; there is sixth_sense, class, other"),
    ],
)
async def test_invitations_that_cannot_be_made_are_refused(
    rig: Rig, request_: dict[str, Any], code: grpc.StatusCode, why: str
) -> None:
    found, text = await refused(created(rig, **request_))
    assert (found, why in text) == (code, True), text
    assert rig.store.now(entry.list_invitations) == ()


async def test_a_banned_owner_is_not_invited(rig: Rig, operator: OperatorService) -> None:
    await operator.BanOwner(operator_pb2.BanOwnerRequest(owner="class-2"), rig.operator)
    code, text = await refused(created(rig, owner_prefix="class-", count=3))
    assert (code, "class-2 is banned" in text) == (DENIED, True)
    assert rig.store.now(entry.list_invitations) == (), "all or none"


async def test_an_invitation_that_is_not_there_or_used_is_not_revoked(rig: Rig, operator: OperatorService) -> None:
    async def revoking(number: int) -> tuple[grpc.StatusCode, str]:
        return await refused(
            operator.RevokeInvitation(operator_pb2.RevokeInvitationRequest(number=number), rig.operator)
        )

    text = "there is no invitation 1; `arena bots invitations` has their numbers"
    assert await revoking(1) == (NOT_FOUND, text)
    assert (await revoking((1 << 64) - 1))[0] is NOT_FOUND
    [(_, first), _] = await created(rig, owner_prefix="class-", count=2)
    await registered(rig, "ann", first)
    code, text = await revoking(1)
    assert (code, "invitation 1 was used already" in text) == (DENIED, True)
    await operator.RevokeInvitation(operator_pb2.RevokeInvitationRequest(number=2), rig.operator)
    assert await revoking(2) == (PRECONDITION, "nothing to change: invitation 2 is revoked")


async def test_a_registered_bot_enters_a_ladder_once(rig: Rig) -> None:
    token = await registered(rig, "bob")
    [(_, code), (_, second)] = await created(rig, owner_prefix="class-", count=2, ladder="class")
    await join(rig, token, "class", code)
    again = (PRECONDITION, "nothing to change: bob is on the ladder class")
    assert await refused(join(rig, token, "class", second)) == again
    assert [row.used_by for row in rig.store.now(entry.list_invitations)] == ["bob", ""]


async def test_a_bot_without_a_right_does_not_enter(rig: Rig, operator: OperatorService) -> None:
    token = await registered(rig, "bob")
    [(_, used), (_, revoked)] = await created(rig, owner_prefix="class-", count=2, ladder="class")
    await registered(rig, "ann", used)
    await operator.RevokeInvitation(operator_pb2.RevokeInvitationRequest(number=2), rig.operator)
    [(_, plain)], [(_, other)] = await created(rig, owner="bob"), await created(rig, owner="bob", ladder="other")
    now = now_us()
    new = NewInvitations("bob", ladder="class", expires=now - 1)
    [(_, expired)] = rig.store.now(lambda connection: entry.create(connection, new, now - 10))
    for code, why in (
        ("guess", "there is no such invitation"),
        (used, "class-1's invitation was used already"),
        (revoked, "class-2's invitation was revoked"),
        (expired, "bob's invitation expired on "),
        (plain, "this invitation is for registration, not for the ladder class"),
        (other, "this invitation is for the ladder other, not for the ladder class"),
    ):
        status, text = await refused(join(rig, token, "class", code))
        assert (status, why in text) == (DENIED, True), text
    for ladder, status, why in (
        ("clas", PRECONDITION, "there is no ladder 'clas'; there is sixth_sense, class, other, listed"),
        ("listed", DENIED, "bob may not enter the ladder listed: its owner, bob, is not listed there"),
        (GAME.name, PRECONDITION, "bob is free to play on the ladder sixth_sense, without an invitation"),
    ):
        found, text = await refused(join(rig, token, ladder, other))
        assert (found, why in text) == (status, True), text
    assert (await refused(join(rig, "guess", "other", other)))[0] is grpc.StatusCode.UNAUTHENTICATED
    await join(rig, token, "other", other)


async def test_a_season_begins_and_is_in_the_log(rig: Rig, operator: OperatorService) -> None:
    for number in (2, 3):
        answer = await operator.BeginSeason(operator_pb2.BeginSeasonRequest(ladder="class"), rig.operator)
        assert answer.season == number
        assert rig.arena.ladder_ids["class"] == f"class/{number}"
    newest = rig.store.now(lambda connection: log.leaf(connection, log.size(connection)))
    leaf = decode_leaf(newest)
    assert (leaf["kind"], leaf["name"], leaf["season"], leaf["ladder"]) == ("season", "class", 3, "class/3")
    code, text = await refused(operator.BeginSeason(operator_pb2.BeginSeasonRequest(ladder="class/3"), rig.operator))
    assert (code, "there is no ladder 'class/3'; there is" in text) == (PRECONDITION, True)
