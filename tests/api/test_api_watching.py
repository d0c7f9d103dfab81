"""`WatchMatches`, `GetMatch` and `GetStatus` over a real socket: messages, their recipients, and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, TypeVar

import grpc
import pytest
import trio
from arena_client.v1 import matches_pb2, matches_pb2_grpc, play_pb2, status_pb2_grpc
from arena_client.v1 import status_pb2 as arena_status_pb2
from google.rpc import error_details_pb2, status_pb2

from arena.api import codec, watching
from arena.api.server import serve_arena
from arena.match.effects import Over
from arena.match.policy import Policy
from arena.replay.header import Header, MatchKind, SeatedBot
from arena.server.arena import Arena
from arena.server.config import LadderTable
from arena.server.matches import live
from arena.server.sessions.limits import Limits
from arena.store.matches import matches
from engine.deal import SeededDecks
from engine.game import OVER, RoundReport
from engine.registry import GAMES
from tests.server.server_rig import MemoryStore, running

pytestmark = pytest.mark.process

T = TypeVar("T")
PATIENCE = 60.0
NAMES = ("ann", "bob", "eve", "ida", "joe", "kim")


class Rig:
    def __init__(self, arena: Arena, store: MemoryStore, channel: grpc.Channel) -> None:
        self.arena = arena
        self.store = store
        self.channel = channel
        self.stub: Any = matches_pb2_grpc.MatchServiceStub(channel)
        self.bots = {name: store.register(name).id for name in NAMES}

    def begin(self, game: str = "sixth_sense", bots: tuple[str, ...] = NAMES[:3], ladder: str = "") -> int:
        """Start a match as the server does. Return its number."""
        numbers = [self.bots[name] for name in bots]
        begin = partial(matches.begin, game=game, options={}, bots=numbers, at=1_500_000, ladder_id=ladder)
        match_id = self.store.now(begin)
        self.arena.live.began(replace(header(match_id, game, bots), ladder=ladder))
        return match_id

    def watch(self, **request: Any) -> Any:
        return self.stub.WatchMatches(matches_pb2.WatchMatchesRequest(**request), timeout=PATIENCE)


def header(match_id: int, game: str, bots: tuple[str, ...]) -> Header:
    return Header(
        match_id=match_id,
        game=GAMES[game],
        options={},
        bots=tuple(SeatedBot(name, False, False) for name in bots),
        seed=b"a seed that nobody may be shown!",
        commitment=bytes(32),
        nonces=(bytes(16),) * len(bots),
        stand_in="house",
        policy=Policy(),
        started=1_500_000,
        server="test",
        kind=MatchKind.CHALLENGE,
        offers=(),
    )


def rounds(game: str, seats: int) -> list[RoundReport]:
    """Return the rounds of a random game."""
    chance, state = Random(3), GAMES[game].new(seats, SeededDecks(bytes(32)))
    reports: list[RoundReport] = []
    while state.player != OVER:
        seat = chance.choice(state.waiting())
        state.apply(chance.choice(state.legal(seat)), seat)
        if state.report is not None and (not reports or state.report is not reports[-1]):
            reports.append(state.report)
    return reports


@asynccontextmanager
async def serving(ladders: tuple[LadderTable, ...] = (), **limits: int) -> AsyncIterator[Rig]:
    store = MemoryStore()
    async with (
        running(store, games=tuple(GAMES.values()), ladders=ladders, limits=Limits(**limits)) as arena,
        trio.open_nursery() as nursery,
    ):
        port = await nursery.start(partial(serve_arena, arena, "127.0.0.1:0"))
        with grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
            yield Rig(arena, store, channel)
        nursery.cancel_scope.cancel()


async def in_thread(call: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(call)


async def events(stream: Any, count: int) -> list[matches_pb2.MatchEvent]:
    """Read a number of events. No other event may be in the messages that contain them."""
    found: list[matches_pb2.MatchEvent] = []
    while len(found) < count:
        found += (await in_thread(partial(next, stream))).events
    assert len(found) == count
    return found


async def ended(stream: Any) -> tuple[grpc.StatusCode, str, error_details_pb2.RetryInfo, error_details_pb2.ErrorInfo]:
    """Return how a stream ended. Skip the messages before the end."""
    with pytest.raises(grpc.RpcError):
        await in_thread(lambda: [*stream])
    details = dict(stream.trailing_metadata())["grpc-status-details-bin"]
    retry, why = error_details_pb2.RetryInfo(), error_details_pb2.ErrorInfo()
    packed = status_pb2.Status.FromString(details).details
    assert packed[0].Unpack(retry)
    assert packed[1].Unpack(why)
    return stream.code(), stream.details(), retry, why


@pytest.mark.parametrize("game", [*GAMES])
async def test_what_is_pushed_is_the_beginning_the_rounds_and_the_end(game: str) -> None:
    async with serving() as rig:
        bots = NAMES[: GAMES[game].seats[-1]]
        stream = rig.watch()
        assert (await in_thread(partial(next, stream))) == matches_pb2.WatchMatchesResponse(caught_up=True)
        match_id = rig.begin(game, bots)
        reports = rounds(game, len(bots))
        for report in reports:
            rig.arena.live.round_over(match_id, report)
        assert rig.arena.live.watchers == 1
        rig.arena.live.over(match_id, Over((5, 3), (1, 2), (0, 0), (False,) * 2, (True,) * 2, ""))
        began, *told, over = await events(stream, len(reports) + 2)
        assert (began.began.match_id, began.began.game, tuple(began.began.bots)) == (match_id, game, bots)
        assert began.began.kind == play_pb2.MATCH_KIND_CHALLENGE
        assert began.began.started.ToMicroseconds() == 1_500_000
        assert [event.round.round for event in told] == list(range(len(reports)))
        for event, report in zip(told, reports, strict=True):
            assert event.round.match_id == match_id
            assert tuple(event.round.points) == tuple(report.points)
            assert event.round == play_pb2.RoundReport.FromString(codec.encode_report(match_id, report))
        assert (tuple(over.over.scores), tuple(over.over.places)) == ((5, 3), (1, 2))


async def test_who_comes_later_is_told_what_runs_and_a_page_about_one_match_more_of_it() -> None:
    async with serving() as rig:
        reports = rounds("sixth_sense", 3)[:2]
        ids = [rig.begin() for _ in range(watching.RUNNING_AT_ONCE + 1)]
        for report in reports:
            rig.arena.live.round_over(ids[0], report)
        while len(rig.arena.live.running) < len(ids):
            await trio.sleep(0.01)
        stream = rig.watch()
        first, second, third = [await in_thread(partial(next, stream)) for _ in range(3)]
        assert [first.caught_up, second.caught_up, third.caught_up] == [False, False, True]
        running = [event.began for event in (*first.events, *second.events)]
        assert [each.match_id for each in running] == ids
        assert [(tuple(each.points), tuple(each.scores)) for each in running[0].rounds] == [
            (tuple(report.points), tuple(report.scores)) for report in reports
        ]
        ask = partial(rig.stub.GetMatch, timeout=PATIENCE)
        answer = await in_thread(partial(ask, matches_pb2.GetMatchRequest(match_id=ids[0])))
        assert answer.match.state == matches_pb2.MATCH_STATE_PLAYING
        assert [each.round for each in answer.rounds] == [0, 1]
        assert [*answer.rounds[1].sixth_sense.plays] == [*reports[1].plays]  # type: ignore[attr-defined]
        with pytest.raises(grpc.RpcError) as caught:
            await in_thread(partial(ask, matches_pb2.GetMatchRequest(match_id=4711)))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_filters_by_game_bot_and_match() -> None:
    async with serving() as rig:
        of_game, of_bot = rig.watch(game="nullern"), rig.watch(bot="KIM")
        of_match = rig.watch(match_id=3)
        for stream in (of_game, of_bot, of_match):
            assert (await in_thread(partial(next, stream))).caught_up
        rig.begin()
        rig.begin("nullern", NAMES[:4])
        rig.begin(bots=("ann", "kim"))
        for stream, expected in ((of_game, 2), (of_bot, 3), (of_match, 3)):
            (event,) = await events(stream, 1)
            assert event.began.match_id == expected
        for request in ({"game": "chess"}, {"bot": "nobody"}):
            stream = rig.watch(**request)
            with pytest.raises(grpc.RpcError):
                await in_thread(partial(next, stream))
            assert stream.code() is grpc.StatusCode.NOT_FOUND


SLOW = LadderTable(GAMES["sixth_sense"], (3,), name="slow")


async def test_a_watcher_of_a_ladder_sees_one_season_of_it_and_the_status_has_each_ladder() -> None:
    async with serving((SLOW,)) as rig:
        await rig.arena.begin_season("slow")
        of_ladder, of_season, of_default = (
            rig.watch(ladder="slow"),
            rig.watch(game="sixth_sense", ladder="slow", season=1),
            rig.watch(ladder="sixth_sense"),
        )
        for stream in (of_ladder, of_season, of_default):
            assert (await in_thread(partial(next, stream))).caught_up
        for ladder in ("", "slow", "slow/2"):
            rig.begin(ladder=ladder)
        for stream, expected in ((of_ladder, (3, "slow", 2)), (of_season, (2, "slow", 1)), (of_default, (1, "", 0))):
            (event,) = await events(stream, 1)
            began = event.began
            assert (began.match_id, began.ladder, began.season, began.game) == (*expected, "sixth_sense")
        stub: Any = status_pb2_grpc.StatusServiceStub(rig.channel)
        rig.arena.live.over(3, Over((), (), (), (), (), "the server was stopped"))
        rig.begin()  # the server publishes this match's event together with the other match's end
        await events(of_default, 1)
        status = await in_thread(partial(stub.GetStatus, arena_status_pb2.GetStatusRequest(), timeout=PATIENCE))
        game = next(each for each in status.games if each.game == "sixth_sense")
        assert (game.ladder, game.season, game.playing, game.ended) == ("", 0, 2, 0)
        (slow,) = status.ladders
        assert (slow.game, slow.ladder, slow.season, slow.playing, slow.ended) == ("sixth_sense", "slow", 2, 1, 1)
        for request in ({"ladder": "fast"}, {"ladder": "slow", "season": 3}):
            stream = rig.watch(**request)
            with pytest.raises(grpc.RpcError):
                await in_thread(partial(next, stream))
            assert stream.code() is grpc.StatusCode.NOT_FOUND


async def test_one_watcher_too_many_is_told_when_to_come_back() -> None:
    async with serving(watchers=2) as rig:
        first, second = rig.watch(), rig.watch()
        for stream in (first, second):
            assert (await in_thread(partial(next, stream))).caught_up
        code, text, retry, why = await ended(rig.watch())
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert text == "streams that watch matches: 2 are open, the most at once (watchers); try again in 60 s"
        assert (retry.retry_delay.seconds, why.reason) == (60, "TOO_MANY_WATCHERS")
        first.cancel()
        while rig.arena.live.watchers > 1:  # until the server has noticed the closed stream
            await trio.sleep(0.01)
        assert (await in_thread(partial(next, rig.watch()))).caught_up


async def test_who_does_not_read_is_dropped_and_others_are_not_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PUSH_INTERVAL", 0.01)
    monkeypatch.setattr(live, "MOST_UNREAD", 500)
    async with serving() as rig:
        lazy = rig.watch()
        match_id = rig.begin("nullern", NAMES[:5])
        report = rounds("nullern", 5)[0]
        while rig.arena.live.watchers < 1:
            await trio.sleep(0.01)
        with trio.fail_after(PATIENCE):
            while rig.arena.live.watchers:  # until the buffers of sockets and windows are full
                for _ in range(400):
                    rig.arena.live.round_over(match_id, report)
                await trio.sleep(0.02)
        attentive = rig.watch(match_id=match_id)
        assert (await in_thread(partial(next, attentive))).events
        code, text, retry, why = await ended(lazy)
        assert (code, why.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "NOT_READING")
        assert text == "too much was left unread; come back for what runs then"
        assert retry.retry_delay.seconds == 5


async def test_an_event_is_encoded_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []

    def counted(match_id: int, report: RoundReport) -> bytes:
        encoded.append(match_id)
        return encode(match_id, report)

    encode = codec.encode_report
    monkeypatch.setattr(watching, "encode_report", counted)
    async with serving() as rig:
        streams = [rig.watch() for _ in range(5)] + [rig.watch(game="sixth_sense")]
        for stream in streams:
            assert (await in_thread(partial(next, stream))).caught_up
        match_id = rig.begin()
        rig.arena.live.round_over(match_id, rounds("sixth_sense", 3)[0])
        for stream in streams:
            assert [event.WhichOneof("event") for event in await events(stream, 2)] == ["began", "round"]
    assert encoded == [match_id]


async def test_the_status_says_what_the_server_does() -> None:
    async with serving() as rig:
        stub: Any = status_pb2_grpc.StatusServiceStub(rig.channel)
        ask = partial(stub.GetStatus, arena_status_pb2.GetStatusRequest(), timeout=PATIENCE)
        match_id = rig.begin()
        rig.begin()
        rig.arena.live.over(match_id, Over((), (), (), (), (), "the server was stopped"))
        stream = rig.watch(match_id=4711)
        assert (await in_thread(partial(next, stream))).caught_up
        status = await in_thread(ask)
        assert (status.watchers, status.bots, status.draining) == (1, 0, False)
        assert status.started.ToMicroseconds() == rig.arena.started
        by_game = {each.game: each for each in status.games}
        assert {*by_game} == {*GAMES}
        game = by_game["sixth_sense"]
        assert (game.playing, game.ended, game.waiting, game.unfitted_results) == (1, 1, 0, 0)
        assert not game.HasField("published")
        await rig.arena.drain(0)
        assert (await in_thread(ask)).draining
