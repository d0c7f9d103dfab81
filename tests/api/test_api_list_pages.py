"""Paged lists: pages together contain every row once, and the server refuses page tokens of other queries. All in
memory.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import grpc
import pytest
import trio
from arena_client.v1 import bots_pb2, ladder_pb2, matches_pb2, operator_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import error_details_pb2, status_pb2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from arena.api import list_pages
from arena.api.list_pages import LADDER_KEPT, LADDERS, page_token
from arena.api.operator_service import OperatorService
from arena.server.runtime.wall_clock import now_us
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import DAY, publish
from arena.store.matches import matches
from tests.api.services_rig import CALL, GAME, Rig, services
from trio_grpc.grpc.call import CallRefused

NAMES: Final = ("ann", "Bob", "cleo", "dan")


@dataclass(frozen=True)
class Paged:
    """A list: its call, two different queries of it, and a function that identifies a row."""

    call: Callable[[Rig], Callable[[Any, Any], Awaitable[Any]]]
    query: Callable[..., Any]
    another: dict[str, Any]
    rows: Callable[[Any], Any]
    row: str


def of_ann(request: Callable[..., Any]) -> Callable[..., Any]:
    return partial(request, game=GAME.name, bot="ann")


LISTS: Final = {
    "ListBots": Paged(
        lambda rig: rig.accounts.ListBots, bots_pb2.ListBotsRequest, {}, lambda answer: answer.bots, "name"
    ),
    "ListBotEvents": Paged(
        lambda rig: rig.accounts.ListBotEvents,
        bots_pb2.ListBotEventsRequest,
        {},
        lambda answer: answer.events,
        "number",
    ),
    "ListMatches": Paged(
        lambda rig: rig.query_services.ListMatches,
        matches_pb2.ListMatchesRequest,
        {"seats": 4},
        lambda answer: answer.matches,
        "match_id",
    ),
    "ListMatches of a search": Paged(
        lambda rig: rig.query_services.ListMatches,
        partial(matches_pb2.ListMatchesRequest, bot="ann", opponent="bob"),
        {"bot": "cleo"},
        lambda answer: answer.matches,
        "match_id",
    ),
    "ListVersions": Paged(
        lambda rig: rig.query_services.ListVersions,
        of_ann(ladder_pb2.ListVersionsRequest),
        {"bot": "bob"},
        lambda answer: answer.versions,
        "version",
    ),
    "GetHistory": Paged(
        lambda rig: rig.query_services.GetHistory,
        of_ann(ladder_pb2.GetHistoryRequest),
        {"bot": "bob"},
        lambda answer: answer.matches,
        "match_id",
    ),
    "GetOpponents": Paged(
        lambda rig: rig.query_services.GetOpponents,
        of_ann(ladder_pb2.GetOpponentsRequest),
        {"last": 3},
        lambda answer: answer.opponents,
        "opponent",
    ),
    "GetLadder": Paged(
        lambda rig: rig.query_services.GetLadder,
        partial(ladder_pb2.GetLadderRequest, game=GAME.name),
        {"seats": 4},
        lambda answer: answer.standings,
        "bot",
    ),
    "GetPastLadder": Paged(
        lambda rig: rig.query_services.GetPastLadder,
        partial(ladder_pb2.GetPastLadderRequest, game=GAME.name),
        {"at": Timestamp(seconds=1)},
        lambda answer: answer.standings,
        "bot",
    ),
}

PLACES: Final = (
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.integers().map(str)
    | st.from_regex(r"[0-9a-f]{16} [0-9]{1,12}|[0-9]{1,20} [0-9]{1,12}", fullmatch=True)
)
"""Page positions from other lists, and invalid ones."""

every_list = pytest.mark.parametrize("name", LISTS)


@pytest.fixture
async def rig(autojump_clock: MockClock) -> AsyncIterator[Rig]:
    """Four bots, their four matches, four versions of one bot, a published ladder and three events."""
    async with services() as rig:
        await fill(rig)
        yield rig


async def fill(rig: Rig) -> None:
    bots = rig.bots(*NAMES)
    for number in range(4):
        said = [f"v{number}", "", "", ""]
        rig.finish(
            rig.store.now(partial(matches.begin, game=GAME.name, options={}, bots=bots, at=1, said=said)), [4, 3, 2, 1]
        )
    publish_ladder(rig)
    operator = OperatorService(rig.arena)
    for owner in ("eve", "ida", "joe"):
        await operator.BanOwner(operator_pb2.BanOwnerRequest(owner=owner, reason="a ring"), rig.operator)


def publish_ladder(rig: Rig) -> None:
    ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
    rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=now_us()))


async def ask(rig: Rig, name: str, **fields: Any) -> Any:
    return await LISTS[name].call(rig)(LISTS[name].query(**fields), CALL)


async def walk(rig: Rig, name: str, limit: int) -> list[list[Any]]:
    """Return, page by page, the values that identify the rows."""
    pages, token = [], ""
    while True:
        answer = await ask(rig, name, limit=limit, page_token=token)
        pages.append([getattr(row, LISTS[name].row) for row in LISTS[name].rows(answer)])
        token = answer.next_page_token
        if not token:
            return pages


async def reason(answer: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    """Return the status and the reason of a refusal."""
    with pytest.raises(CallRefused) as caught:
        await answer
    info = error_details_pb2.ErrorInfo()
    assert any(detail.Unpack(info) for detail in status_pb2.Status.FromString(caught.value.details).details)
    return caught.value.code, info.reason


NOT_VALID: Final = (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_NOT_VALID")


@every_list
async def test_the_pages_are_the_list(rig: Rig, name: str, autojump_clock: MockClock) -> None:
    [whole] = await walk(rig, name, 100)
    assert len(whole) == len(set(whole)) >= 3
    for limit in range(1, len(whole) + 1):
        pages = await walk(rig, name, limit)
        if name == "GetHistory":  # within a page, rows have the order of the results; the newest page comes first
            pages.reverse()
        assert [row for page in pages for row in page] == whole
        assert len(pages) == -(-len(whole) // limit), "no page is empty"


@every_list
async def test_a_limit_may_change_from_page_to_page(rig: Rig, name: str, autojump_clock: MockClock) -> None:
    [whole] = await walk(rig, name, 100)
    token = (await ask(rig, name, limit=1)).next_page_token
    rest = [getattr(row, LISTS[name].row) for row in LISTS[name].rows(await ask(rig, name, limit=99, page_token=token))]
    assert rest == (whole[:-1] if name == "GetHistory" else whole[1:])


@every_list
async def test_a_token_of_another_query_list_or_build_is_refused(
    rig: Rig, name: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await ask(rig, name, limit=1)).next_page_token
    if LISTS[name].another:
        assert await reason(ask(rig, name, page_token=token, **LISTS[name].another)) == NOT_VALID
    for other in LISTS.keys() - {name}:
        assert await reason(ask(rig, other, page_token=token)) == NOT_VALID
    for constant, value in (("FORMAT", 2), ("__version__", "0.2.0")):
        with monkeypatch.context() as later:
            later.setattr(list_pages, constant, value)
            assert await reason(ask(rig, name, page_token=token)) == NOT_VALID
    await ask(rig, name, page_token=token)


@every_list
async def test_a_token_that_no_server_made_is_refused(rig: Rig, name: str, autojump_clock: MockClock) -> None:
    token = (await ask(rig, name, limit=1)).next_page_token
    changed = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    shortened = [token[:at] for at in range(1, len(token))]
    made_up = ["x", "2", "=", " ", "é", "\0", token + "=", token + "A", " " + token, "A" * 201, "A" * 1_000_000]
    for wrong in changed + shortened + made_up:
        assert await reason(ask(rig, name, page_token=wrong)) == NOT_VALID, wrong[:200]


@pytest.mark.thorough
@every_list
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=PLACES)
def test_a_token_that_was_computed_with_another_place_never_fails(name: str, place: str) -> None:
    """Even a caller that builds page tokens itself gets only a page or a refusal."""

    async def tried() -> set[grpc.StatusCode]:
        async with services() as rig:
            try:
                await ask(rig, name, page_token=page_token(LISTS[name].query(), place))
            except CallRefused as refusal:
                return {refusal.code}
        return set()

    assert trio.run(tried, clock=MockClock(autojump_threshold=0)) <= {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,  # there is no such bot
    }


async def test_the_pages_are_of_one_ladder_for_a_minute(rig: Rig, autojump_clock: MockClock) -> None:
    first = await ask(rig, "GetLadder", limit=2)
    whole = [row.bot for row in (await ask(rig, "GetLadder")).standings]
    bots = [rig.store.register(f"new-{number}").id for number in range(4)]
    rig.finish(rig.begin(bots), [4, 3, 2, 1])
    other = await ask(rig, "GetLadder", limit=2)
    assert other.next_page_token != first.next_page_token
    rest = await ask(rig, "GetLadder", page_token=first.next_page_token)
    assert [row.bot for row in [*first.standings, *rest.standings]] == whole
    assert len((await ask(rig, "GetLadder", page_token=other.next_page_token)).standings) == 6
    await trio.sleep(LADDER_KEPT + 1)
    assert await reason(ask(rig, "GetLadder", page_token=first.next_page_token)) == NOT_VALID


async def test_readers_of_the_same_ladder_share_it(rig: Rig, autojump_clock: MockClock) -> None:
    tokens = {(await ask(rig, "GetLadder", limit=2)).next_page_token for _ in range(2 * LADDERS)}
    assert len(tokens) == 1
    stale = tokens.pop()
    for number in range(LADDERS):
        bots = [rig.store.register(f"new-{number}-{seat}").id for seat in range(4)]
        rig.finish(rig.begin(bots), [4, 3, 2, 1])
        await ask(rig, "GetLadder", page_token=stale)
        await ask(rig, "GetLadder", limit=2)
    assert await reason(ask(rig, "GetLadder", page_token=stale)) == NOT_VALID, "no more are stored at a time"


async def test_the_pages_are_of_one_past_ladder_while_it_is_stored(rig: Rig, autojump_clock: MockClock) -> None:
    first = await ask(rig, "GetPastLadder", limit=2)
    bots = [rig.store.register(f"new-{number}").id for number in range(4)]
    rig.finish(rig.begin(bots), [4, 3, 2, 1])
    publish_ladder(rig)
    rest = await ask(rig, "GetPastLadder", page_token=first.next_page_token)
    assert (rest.published, len(rest.standings)) == (first.published, 2)
    now = now_us()
    ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
    rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=now + 3 * DAY))
    assert await reason(ask(rig, "GetPastLadder", page_token=first.next_page_token)) == NOT_VALID


def test_a_token_is_short_text_of_letters_and_digits() -> None:
    token = page_token(bots_pb2.ListBotsRequest(), "b" * 40)
    assert len(token) < list_pages.LONGEST
    assert base64.urlsafe_b64decode(token + "==")[list_pages.DIGEST :] == b"b" * 40
