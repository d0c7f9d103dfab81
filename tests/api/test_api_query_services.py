"""The query and registration services with every status that they can return. In memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
import trio
from arena_client.v1 import bots_pb2, game_pb2, ladder_pb2, matches_pb2, operator_pb2, play_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from trio.testing import MockClock

import engine
from arena.api.bot_service import BotService
from arena.api.game_codecs import encode_catalog
from arena.api.list_pages import PAGE
from arena.api.operator_service import OperatorService
from arena.api.query_services import CHUNK
from arena.api.statuses import LARGEST_NUMBER, STATUS
from arena.replay.hash_chain import pack, with_chain
from arena.server.config import LadderTable
from arena.server.ratings.publisher import Unfitted
from arena.server.sessions.messages import Hello
from arena.server.sessions.session import Session
from arena.store.base import errors
from arena.store.base.errors import StoreError
from arena.store.base.rows import Interruption
from arena.store.ladder import baselines, seasons
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import publish
from arena.store.moderation import parking
from tests.api.services_rig import CALL, GAME, Rig, UnaryCall, refused, services
from tests.conformance.high_card import HighCard
from tests.server.server_rig import CODEC, Line, turns
from trio_grpc.grpc.call import CallRefused


@pytest.fixture
async def rig(autojump_clock: MockClock) -> AsyncIterator[Rig]:
    async with services() as rig:
        yield rig


async def test_the_catalogues_of_the_games_are_listed(rig: Rig, autojump_clock: MockClock) -> None:
    answer = await rig.query_services.ListGames(game_pb2.ListGamesRequest(), CALL)
    assert list(answer.games) == [encode_catalog(GAME)]


async def test_the_rules_are_sent_in_the_language_that_is_asked_for(rig: Rig, autojump_clock: MockClock) -> None:
    for tag, language in (
        ("", "en"),
        ("en", "en"),
        ("en-GB", "en"),
        ("nl-BE", "nl"),
        ("DE", "de"),
        ("de-Latn-AT", "de"),
    ):
        answer = await rig.query_services.GetRules(game_pb2.GetRulesRequest(game=GAME.name, language=tag), CALL)
        text = (Path(engine.__file__).parent / GAME.name / f"rules.{language}.md").read_text(encoding="utf-8")
        assert (answer.language, answer.text, [*answer.languages]) == (language, text, ["en", "nl", "de"])


async def test_rules_that_are_not_there_are_refused(rig: Rig, autojump_clock: MockClock) -> None:
    for tag in ("fr", "eng", "-", "en_GB", "x" * 1_000_000):
        with pytest.raises(CallRefused) as caught:
            await rig.query_services.GetRules(game_pb2.GetRulesRequest(game=GAME.name, language=tag), CALL)
        assert caught.value.code is grpc.StatusCode.NOT_FOUND
        assert b"NO_RULES" in caught.value.details
        assert caught.value.text == f"the rules of sixth_sense are there in en, nl, de, not in {tag[:40]!r}"
    code, text = await refused(rig.query_services.GetRules(game_pb2.GetRulesRequest(game="chess"), CALL))
    assert (code, text) == (grpc.StatusCode.NOT_FOUND, "this server does not play 'chess'; it plays sixth_sense")
    ladder = replace(rig.arena.config.ladder_tables[0], game=HighCard())
    rig.arena.config = replace(rig.arena.config, ladder_tables=(ladder,))
    code, text = await refused(rig.query_services.GetRules(game_pb2.GetRulesRequest(game=HighCard.name), CALL))
    assert (code, text) == (grpc.StatusCode.NOT_FOUND, "the server has no rules of high_card")


async def test_a_bot_registers_and_its_token_is_good(rig: Rig, autojump_clock: MockClock) -> None:
    answer = await rig.accounts.RegisterBot(bots_pb2.RegisterBotRequest(name="ann", owner="anna"), CALL)
    assert answer.name == "ann"
    bot = await rig.arena.accounts.authenticate(answer.token)
    assert bot is not None
    assert (bot.name, bot.owner) == ("ann", "anna")


async def test_registration_says_what_is_wrong(rig: Rig, autojump_clock: MockClock) -> None:
    rig.bots("ann")
    register = rig.accounts.RegisterBot
    code, text = await refused(register(bots_pb2.RegisterBotRequest(name="ANN"), CALL))
    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert "'ANN' is taken by 'ann'" in text
    code, text = await refused(register(bots_pb2.RegisterBotRequest(name="a b"), CALL))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "'a b'" in text
    code, text = await refused(register(bots_pb2.RegisterBotRequest(name="bob", invitation="guess"), CALL))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    rig.arena.config = replace(rig.arena.config, registration="invited")
    invited = BotService(rig.arena)
    code, text = await refused(invited.RegisterBot(bots_pb2.RegisterBotRequest(name="bob"), CALL))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    assert "by invitation" in text


async def test_registrations_are_counted_by_address(rig: Rig, autojump_clock: MockClock) -> None:
    most = rig.arena.config.limits.registrations_per_address
    for number in range(most):
        await rig.accounts.RegisterBot(bots_pb2.RegisterBotRequest(name=f"bot-{number}"), CALL)
    code, text = await refused(rig.accounts.RegisterBot(bots_pb2.RegisterBotRequest(name="more"), CALL))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "registrations_per_address" in text
    other = UnaryCall()
    other.peer = "ipv6:[2001:db8::1]:4711"
    await rig.accounts.RegisterBot(bots_pb2.RegisterBotRequest(name="more"), other)


async def test_only_the_operator_invites(rig: Rig, autojump_clock: MockClock) -> None:
    request = bots_pb2.CreateInvitationRequest(owner="anna")
    for header in ("", "Bearer guess", "Bearer ", rig.store.operator_token, f"Basic {rig.store.operator_token}"):
        call = UnaryCall(header)
        code, text = await refused(rig.accounts.CreateInvitation(request, call))
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "operator.token" in text
        assert not call.trusted
    operator = UnaryCall(f"Bearer {rig.store.operator_token}")
    code, text = await refused(rig.accounts.CreateInvitation(bots_pb2.CreateInvitationRequest(owner="a b"), operator))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    invitation = (await rig.accounts.CreateInvitation(request, operator)).invitation
    assert operator.trusted
    rig.arena.config = replace(rig.arena.config, registration="invited")
    invited = BotService(rig.arena)
    await invited.RegisterBot(bots_pb2.RegisterBotRequest(name="ann", owner="bea", invitation=invitation), CALL)
    (bot,) = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert (bot.name, bot.owner) == ("ann", "anna"), "the invitation's owner goes before"


async def test_a_store_in_trouble_is_unavailable(rig: Rig, autojump_clock: MockClock) -> None:
    rig.store.troubles.append(StoreError("the disk is on fire"))
    request = bots_pb2.RegisterBotRequest(name="ann")
    assert await refused(rig.accounts.RegisterBot(request, CALL)) == (
        grpc.StatusCode.UNAVAILABLE,
        "the disk is on fire",
    )


async def test_bots_are_listed_by_name(rig: Rig, autojump_clock: MockClock) -> None:
    rig.bots("Dan", "ann", "cleo", "Bob")
    listed = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert [bot.name for bot in listed] == ["ann", "Bob", "cleo", "Dan"]
    code, _ = await refused(rig.accounts.ListBots(bots_pb2.ListBotsRequest(limit=1001), CALL))
    assert code is grpc.StatusCode.INVALID_ARGUMENT


async def test_bots_are_listed_with_what_they_do_now(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob, _ = rig.bots("ann", "bob", "cleo")
    rig.finish(rig.begin([ann, bob]), [1, 2])
    here = rig.arena.players.enter(ann, "ann", "ann")
    here.connected(0.0, Session(Line(), CODEC, Hello(("sixth_sense",), 1, ""), turns()))
    gone = rig.arena.players.enter(bob, "bob", "bob")
    assert gone.session is None
    first, second, third = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert (first.name, first.owner, first.house, first.matches) == ("ann", "ann", False, 1)
    assert (first.connected, first.playing, first.HasField("round_trip_ms")) == (True, 0, False)
    assert (second.name, second.connected, second.matches) == ("bob", False, 1)
    assert (third.name, third.connected, third.matches) == ("cleo", False, 0)
    assert first.registered.ToMicroseconds() == 0
    assert not first.HasField("pace_ms"), "no match has told it"
    assert here.session is not None
    here.session.beat(0.0)
    here.session.beaten(0.0125, 0)
    here.offers.pace.played(trio.current_time(), 0.9)
    (first, *_) = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert first.round_trip_ms == 12.5
    assert first.pace_ms == pytest.approx(900.0)
    here.disconnected(0.0, here.session)


async def test_a_ladder_is_listed_best_first(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob = rig.bots("ann", "bob")
    rig.finish(rig.begin([ann, bob]), [1, 2])
    answer = await rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game="sixth_sense"), CALL)
    assert answer.game == "sixth_sense"
    first, second = answer.standings
    assert (first.rank, first.bot, first.owner, first.house) == (1, "bob", "bob", False)
    assert (first.matches, first.wins, first.mean_rank) == (1, 1, 0.0)
    assert first.rating == pytest.approx(1500 + first.last_change)
    assert first.last_change > 0
    assert 0 < first.deviation < 150
    assert (second.rank, second.bot, second.wins, second.mean_rank) == (2, "ann", 0, 1.0)


async def test_a_game_that_is_not_played_here_has_neither_ladder_nor_matches(
    rig: Rig, autojump_clock: MockClock
) -> None:
    expected = (grpc.StatusCode.NOT_FOUND, "this server does not play 'go'; it plays sixth_sense")
    assert await refused(rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game="go"), CALL)) == expected
    assert await refused(rig.listed(game="go")) == expected


async def test_matches_are_listed_newest_first_with_all_that_is_known(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob = rig.bots("ann", "bob")
    finished, playing, interrupted = rig.begin([ann, bob]), rig.begin([bob, ann]), rig.begin([ann, bob])
    rig.finish(finished, [-3, 8])
    rig.interrupt(interrupted)
    last, middle, first = await rig.listed()
    assert [last.match_id, middle.match_id, first.match_id] == [interrupted, playing, finished]
    assert first.state == matches_pb2.MATCH_STATE_FINISHED
    assert (first.started.ToMicroseconds(), first.ended.ToMicroseconds()) == (1_500_000, 2_000_001)
    loser, winner = first.seats
    assert (loser.bot, loser.score, loser.place, loser.forced) == ("ann", -3, 2, 0)
    assert (winner.bot, winner.score, winner.place, winner.forced) == ("bob", 8, 1, 1)
    assert loser.rating_before == 1500.0
    assert loser.rating_after < 1500.0
    assert middle.state == matches_pb2.MATCH_STATE_PLAYING
    assert not middle.HasField("ended")
    for field in ("score", "place", "rating_before", "rating_after"):
        assert not middle.seats[0].HasField(field)
    assert (last.state, last.reason) == (matches_pb2.MATCH_STATE_INTERRUPTED, Interruption.JOURNAL_LOST.in_words())
    assert (last.interruption, last.is_void) == (play_pb2.INTERRUPTION_JOURNAL_LOST, False)
    assert {middle.interruption, first.interruption} == {play_pb2.INTERRUPTION_UNSPECIFIED}


async def test_an_interruption_in_words_of_another_server_has_no_cause(rig: Rig, autojump_clock: MockClock) -> None:
    rig.interrupt(rig.begin(rig.bots("ann", "bob")), "the server was stopped")
    (match,) = await rig.listed()
    assert (match.reason, match.interruption) == ("the server was stopped", play_pb2.INTERRUPTION_UNSPECIFIED)


async def test_programs_see_which_bots_are_parked_and_banned(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob = rig.bots("ann", "bob")
    match = rig.begin([ann, bob])
    rig.store.now(partial(parking.count, match_id=match, troubled=[True, False], limit=1, at=3_000_000))
    await OperatorService(rig.arena).BanOwner(operator_pb2.BanOwnerRequest(owner="bob"), rig.operator)
    parked, banned = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert (parked.name, parked.park_cause, parked.is_banned) == ("ann", bots_pb2.PARK_CAUSE_TROUBLES, False)
    assert (banned.name, banned.park_cause, banned.is_banned) == ("bob", bots_pb2.PARK_CAUSE_UNSPECIFIED, True)


async def test_matches_are_chosen_by_bot_game_and_page(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob, cleo = rig.bots("ann", "bob", "cleo")
    rig.begin([ann, bob])
    for _ in range(PAGE):
        rig.begin([bob, cleo])
    assert [match.match_id for match in await rig.listed(bot="ANN")] == [1]
    assert await rig.listed(bot="nobody") == []
    assert len(await rig.listed()) == PAGE
    assert len(await rig.listed(limit=1000, game="sixth_sense")) == PAGE + 1


async def test_a_replay_comes_in_pieces(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob = rig.bots("ann", "bob")
    match = rig.begin([ann, bob])
    stored = pack(f'{{"in":{number}}}' for number in range(5000))
    rig.finish(match, [1, 2], stored)
    chunks = await rig.replay(match)
    assert b"".join(chunks) == with_chain(stored)
    assert len(chunks) > 2
    assert {len(chunk) for chunk in chunks[:-1]} == {CHUNK}


async def test_a_match_without_a_replay_says_why(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob = rig.bots("ann", "bob")
    match = rig.begin([ann, bob])
    assert await refused(rig.replay(999)) == (grpc.StatusCode.NOT_FOUND, "there is no match 999")
    code, text = await refused(rig.replay((1 << 64) - 1))
    assert (code, text) == (grpc.StatusCode.NOT_FOUND, f"there is no match {LARGEST_NUMBER}")
    code, text = await refused(rig.replay(match))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "wait until it is over" in text
    rig.interrupt(match)
    code, text = await refused(rig.replay(match))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "only finished matches have one" in text


def test_every_refusal_of_the_store_that_a_peer_can_cause_has_a_status() -> None:
    here = {refusal for refusal in vars(errors).values() if isinstance(refusal, type)}
    refusals = {refusal for refusal in here if issubclass(refusal, errors.Refused) and refusal is not errors.Refused}
    # A token is checked before any service handles the call. Only the server itself finishes a match.
    assert refusals - STATUS.keys() == {errors.UnknownToken, errors.MatchNotPlaying}


async def test_a_ladder_says_everything_it_knows(rig: Rig, autojump_clock: MockClock) -> None:
    players = rig.bots("ann", "bob")
    rig.finish(rig.begin(players), [5, 3])
    ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
    rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=7_000_000))
    answer = await rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game=GAME.name), CALL)
    assert (answer.through, answer.digest, answer.published.seconds) == (1, ladder.digest, 7)
    first, second = answer.standings
    line = ladder.lines[0]
    assert (first.bot, first.rating, first.deviation) == ("ann", line.shrunk, line.shrunk_error)
    assert (first.fitted, first.fitted_deviation) == (line.rating, line.error)
    assert answer.scale_error == ladder.field.scale_error
    assert (first.rank, first.rank_low, first.rank_high, first.opponents, first.provisional) == (1, 1, 2, 1, True)
    assert first.best + second.best == pytest.approx(1, abs=1e-5)
    assert first.live == ladder.lines[0].rating
    assert not first.HasField("think_95_us")
    assert not first.HasField("forced_share")


async def test_a_ladder_tells_luck_where_deals_were_replayed(rig: Rig, autojump_clock: MockClock) -> None:
    players = rig.bots("ann", "bob")
    for baseline, points in enumerate(([5, 3], [4, 8])):
        match = rig.begin(players)
        rig.finish(match, points)
        ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
        rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=7_000_000))
        answer = await rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game=GAME.name), CALL)
        assert [line.luck.matches for line in answer.standings] == [baseline] * 2
        assert [line.HasField("luck") for line in answer.standings] == [baseline > 0] * 2
        assert not any(line.luck.HasField("plain_error") for line in answer.standings)
        rig.store.now(partial(baselines.add, ladder_id=GAME.name, match_id=match, house="house 1", scores=[1, 2]))
    ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
    rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=7_000_000))
    answer = await rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game=GAME.name), CALL)
    assert {line.bot: line.luck for line in answer.standings} == {
        "ann": ladder_pb2.Luck(matches=2, plain=4.5, plain_error=0.5, adjusted=4.5, adjusted_error=0.5),
        "bob": ladder_pb2.Luck(matches=2, plain=5.5, plain_error=2.5, adjusted=5.5, adjusted_error=2.5),
    }


async def test_the_ladder_of_tables_of_one_size_says_why_it_cannot_be(rig: Rig, autojump_clock: MockClock) -> None:
    code, text = await refused(rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game=GAME.name, seats=9), CALL))
    assert (code, text) == (grpc.StatusCode.INVALID_ARGUMENT, "sixth_sense is played by 2 to 6, not by 9")
    code, text = await refused(rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game=GAME.name, seats=4), CALL))
    assert (code, text) == (grpc.StatusCode.UNAVAILABLE, "this server fits no ladders")


async def test_a_ladder_that_cannot_be_fitted_says_since_when_and_why(
    rig: Rig, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ladder_pb2.GetLadderRequest(game=GAME.name)
    fine = await rig.query_services.GetLadder(ask, CALL)
    assert (fine.HasField("not_fitted_since"), fine.not_fitted_reason) == (False, "")
    why = {GAME.name: Unfitted(7_000_000, "a test")}
    monkeypatch.setattr(rig.arena.publisher, "unfitted", why.get)
    answer = await rig.query_services.GetLadder(ask, CALL)
    assert (answer.not_fitted_since.ToMicroseconds(), answer.not_fitted_reason) == (7_000_000, "a test")


async def test_a_ladder_of_the_past_is_found_by_its_time(rig: Rig, autojump_clock: MockClock) -> None:
    players = rig.bots("ann", "bob")
    rig.finish(rig.begin(players), [5, 3])
    ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
    rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=7_000_000))
    ask = partial(ladder_pb2.GetPastLadderRequest, game=GAME.name)
    for request in (ask(), ask(at=Timestamp(seconds=7)), ask(at=Timestamp(seconds=9))):
        answer = await rig.query_services.GetPastLadder(request, CALL)
        assert (answer.published.seconds, answer.through, answer.digest) == (7, 1, ladder.digest)
        assert [row.bot for row in answer.standings] == ["ann", "bob"]
        assert [row.rating for row in answer.standings] == [line.shrunk for line in ladder.lines]
    before = await rig.query_services.GetPastLadder(ask(at=Timestamp(seconds=6, nanos=999_999_999)), CALL)
    assert not before.HasField("published")
    for request, code in (
        (ask(at=Timestamp(seconds=7, nanos=-1)), grpc.StatusCode.INVALID_ARGUMENT),
        (ask(at=Timestamp(seconds=1 << 60)), grpc.StatusCode.INVALID_ARGUMENT),
        (ladder_pb2.GetPastLadderRequest(game="chess"), grpc.StatusCode.NOT_FOUND),
    ):
        assert (await refused(rig.query_services.GetPastLadder(request, CALL)))[0] is code


async def test_a_history_is_what_every_match_did(rig: Rig, autojump_clock: MockClock) -> None:
    players = rig.bots("ann", "bob")
    first, second = rig.begin(players), rig.begin(players)
    rig.finish(second, [5, 3])
    rig.finish(first, [1, 2])
    ask = partial(ladder_pb2.GetHistoryRequest, game=GAME.name)
    moments = (await rig.query_services.GetHistory(ask(bot="ANN"), CALL)).matches
    assert [moment.match_id for moment in moments] == [second, first]
    assert moments[0].before == 1500 < moments[0].after == moments[1].before > moments[1].after
    assert [each.match_id for each in (await rig.query_services.GetHistory(ask(bot="ann", limit=1), CALL)).matches] == [
        second
    ]
    for request, code in (
        (ask(bot="eve"), grpc.StatusCode.NOT_FOUND),
        (ask(bot="ann", limit=10_001), grpc.StatusCode.INVALID_ARGUMENT),
        (ladder_pb2.GetHistoryRequest(game="chess", bot="ann"), grpc.StatusCode.NOT_FOUND),
    ):
        assert (await refused(rig.query_services.GetHistory(request, CALL)))[0] is code


async def test_versions_come_in_pages_the_newest_first(rig: Rig, autojump_clock: MockClock) -> None:
    rig.finish(rig.begin(rig.bots("ann", "bob")), [5, 3])
    ask = partial(ladder_pb2.ListVersionsRequest, game=GAME.name)
    (entry,) = (await rig.query_services.ListVersions(ask(bot="ANN"), CALL)).versions
    assert (entry.version, entry.matches, entry.shown, entry.HasField("fitted")) == ("", 1, False, False)
    ladder = rig.store.now(lambda connection: Fits().ladder(connection, GAME.name))
    rig.store.now(partial(publish, ladder_id=GAME.name, ladder=ladder, at=7_000_000))
    (entry,) = (await rig.query_services.ListVersions(ask(bot="ann"), CALL)).versions
    assert (entry.shown, entry.fitted) == (True, ladder.lines[0].rating)
    for request, code in (
        (ask(bot="eve"), grpc.StatusCode.NOT_FOUND),
        (ask(bot="ann", limit=1001), grpc.StatusCode.INVALID_ARGUMENT),
        (ladder_pb2.ListVersionsRequest(game="chess", bot="ann"), grpc.StatusCode.NOT_FOUND),
    ):
        assert (await refused(rig.query_services.ListVersions(request, CALL)))[0] is code


async def test_opponents_come_in_pages_those_met_most_often_first(rig: Rig, autojump_clock: MockClock) -> None:
    ann, bob, eve, ida = rig.bots("ann", "bob", "eve", "ida")
    for table, scores in (([ann, bob], [5, 3]), ([ann, bob, eve], [1, 1, 2]), ([ann, ida], [0, 4])):
        rig.finish(rig.begin(table), scores)
    rig.begin([ann, eve])  # the match has no result
    ask = partial(ladder_pb2.GetOpponentsRequest, game=GAME.name)
    found = (await rig.query_services.GetOpponents(ask(bot="ANN"), CALL)).opponents
    assert [(each.opponent, each.matches, each.score) for each in found] == [
        ("bob", 2, 0.75),
        ("eve", 1, 0.0),
        ("ida", 1, 0.0),
    ]
    assert found[1].error == pytest.approx(sqrt(0.4 * 0.6 / 5)), "of 0 in 1 as of 2 in 5"
    newest = (await rig.query_services.GetOpponents(ask(bot="ann", last=1), CALL)).opponents
    assert [each.opponent for each in newest] == ["ida"]
    for request, code in (
        (ask(bot="joe"), grpc.StatusCode.NOT_FOUND),
        (ask(bot="ann", limit=1001), grpc.StatusCode.INVALID_ARGUMENT),
        (ask(bot="ann", last=1001), grpc.StatusCode.INVALID_ARGUMENT),
        (ask(bot="ann", last=0), grpc.StatusCode.INVALID_ARGUMENT),
        (ladder_pb2.GetOpponentsRequest(game="chess", bot="ann"), grpc.StatusCode.NOT_FOUND),
    ):
        assert (await refused(rig.query_services.GetOpponents(request, CALL)))[0] is code


async def test_only_the_operator_takes_results_back(rig: Rig, autojump_clock: MockClock) -> None:
    match = rig.begin(rig.bots("ann", "bob"))
    rig.finish(match, [5, 3])
    operator = OperatorService(rig.arena)
    request = operator_pb2.VoidResultRequest(match_id=match, reason="the deal was known")
    assert (await refused(operator.VoidResult(request, CALL)))[0] is grpc.StatusCode.PERMISSION_DENIED
    right = UnaryCall(f"Bearer {rig.store.operator_token}")
    await operator.VoidResult(request, right)
    assert right.trusted
    assert not CALL.trusted
    assert [(entry.voided, entry.is_void) for entry in await rig.listed()] == [("the deal was known", True)]
    assert (await refused(operator.VoidResult(request, right)))[0] is grpc.StatusCode.FAILED_PRECONDITION
    request.match_id = 1 << 63
    assert (await refused(operator.VoidResult(request, right)))[0] is grpc.StatusCode.NOT_FOUND
    request.reason = ""
    assert (await refused(operator.VoidResult(request, right)))[0] is grpc.StatusCode.INVALID_ARGUMENT


async def test_only_the_operator_bans_and_everybody_sees_it(rig: Rig, autojump_clock: MockClock) -> None:
    operator, listing = OperatorService(rig.arena), rig.accounts.ListBotEvents
    ban = operator_pb2.BanOwnerRequest(owner="eve", reason="a ring")
    unban = operator_pb2.UnbanOwnerRequest(owner="Eve")
    for refusal in (operator.BanOwner(ban, CALL), operator.UnbanOwner(unban, CALL)):
        code, text = await refused(refusal)
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "operator.token" in text
    await operator.BanOwner(ban, rig.operator)
    assert (await refused(operator.BanOwner(ban, rig.operator)))[0] is grpc.StatusCode.FAILED_PRECONDITION
    code, text = await refused(rig.accounts.RegisterBot(bots_pb2.RegisterBotRequest(name="eve"), CALL))
    assert (code, text.partition(";")[0]) == (grpc.StatusCode.PERMISSION_DENIED, "eve is banned: a ring")
    await operator.UnbanOwner(unban, rig.operator)
    second, first = (await listing(bots_pb2.ListBotEventsRequest(), CALL)).events
    assert (first.number, first.kind, first.name, first.reason) == (1, bots_pb2.BOT_EVENT_KIND_BANNED, "eve", "a ring")
    assert (second.number, second.kind, second.name) == (2, bots_pb2.BOT_EVENT_KIND_UNBANNED, "Eve")
    assert list((await listing(bots_pb2.ListBotEventsRequest(limit=1), CALL)).events) == [second]
    for limit in (0, 1001):
        code, _ = await refused(listing(bots_pb2.ListBotEventsRequest(limit=limit), CALL))
        assert code is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_ladder_has_at_most_so_many_standings(rig: Rig, autojump_clock: MockClock) -> None:
    for limit in (0, 1001):
        for request, call in (
            (ladder_pb2.GetLadderRequest(game=GAME.name, limit=limit), rig.query_services.GetLadder),
            (ladder_pb2.GetPastLadderRequest(game=GAME.name, limit=limit), rig.query_services.GetPastLadder),
        ):
            assert (await refused(call(cast("Any", request), CALL)))[0] is grpc.StatusCode.INVALID_ARGUMENT


async def test_only_the_operator_hides_and_deletes_and_the_pages_say_so(rig: Rig, autojump_clock: MockClock) -> None:
    rig.finish(rig.begin(rig.bots("ann", "bob", "cleo")), [3, 2, 1])
    operator = OperatorService(rig.arena)
    hide, show = operator_pb2.HideBotRequest(name="Ann"), operator_pb2.ShowBotRequest(name="ann")
    delete = operator_pb2.DeleteBotRequest(name="BOB", reason="as he wished")
    for refusal in (operator.HideBot(hide, CALL), operator.ShowBot(show, CALL), operator.DeleteBot(delete, CALL)):
        assert (await refused(refusal))[0] is grpc.StatusCode.PERMISSION_DENIED
    await operator.HideBot(hide, rig.operator)
    await operator.DeleteBot(delete, rig.operator)
    listed = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert [bot.name for bot in listed] == ["cleo"]
    ladder = await rig.query_services.GetLadder(ladder_pb2.GetLadderRequest(game=GAME.name), CALL)
    assert [(row.bot, row.owner, row.hidden, row.deleted) for row in ladder.standings] == [
        ("ann", "", True, False),
        ("bob", "", False, True),
        ("cleo", "cleo", False, False),
    ]
    (match,) = await rig.listed()
    assert [(seat.bot, seat.hidden, seat.deleted) for seat in match.seats] == [
        ("ann", True, False),
        ("bob", False, True),
        ("cleo", False, False),
    ]
    await operator.ShowBot(show, rig.operator)
    listed = (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots
    assert [bot.name for bot in listed] == ["ann", "cleo"]
    for pointless in (
        operator.ShowBot(show, rig.operator),
        operator.DeleteBot(delete, rig.operator),
        rig.accounts.RotateToken(bots_pb2.RotateTokenRequest(name="bob"), rig.operator),
    ):
        assert (await refused(pointless))[0] is grpc.StatusCode.FAILED_PRECONDITION
    events = (await rig.accounts.ListBotEvents(bots_pb2.ListBotEventsRequest(), CALL)).events
    assert [(event.kind, event.name, event.reason) for event in events] == [
        (bots_pb2.BOT_EVENT_KIND_SHOWN, "ann", ""),
        (bots_pb2.BOT_EVENT_KIND_DELETED, "bob", "as he wished"),
        (bots_pb2.BOT_EVENT_KIND_HIDDEN, "ann", ""),
    ]


async def test_only_the_operator_renames_and_the_old_name_stays_taken(rig: Rig, autojump_clock: MockClock) -> None:
    rig.begin(rig.bots("ann", "bob"))
    operator, request = OperatorService(rig.arena), operator_pb2.RenameBotRequest(name="ann", new_name="anna")
    assert (await refused(operator.RenameBot(request, CALL)))[0] is grpc.StatusCode.PERMISSION_DENIED
    await operator.RenameBot(request, rig.operator)
    assert [bot.name for bot in (await rig.accounts.ListBots(bots_pb2.ListBotsRequest(), CALL)).bots] == ["anna", "bob"]
    assert [match.seats[0].bot for match in await rig.listed(bot="ann")] == ["anna"]
    code, text = await refused(rig.accounts.RegisterBot(bots_pb2.RegisterBotRequest(name="ann"), CALL))
    assert (code, text) == (grpc.StatusCode.ALREADY_EXISTS, "the name 'ann' is taken by 'anna'; choose another")
    for new_name, code in (
        ("bob", grpc.StatusCode.ALREADY_EXISTS),
        ("anna", grpc.StatusCode.FAILED_PRECONDITION),
        ("a b", grpc.StatusCode.INVALID_ARGUMENT),
    ):
        request.new_name = new_name
        assert (await refused(operator.RenameBot(request, rig.operator)))[0] is code
    (event,) = (await rig.accounts.ListBotEvents(bots_pb2.ListBotEventsRequest(), CALL)).events
    assert (event.kind, event.name, event.new_name) == (bots_pb2.BOT_EVENT_KIND_RENAMED, "ann", "anna")


async def test_results_of_a_bot_are_taken_back_a_page_at_a_time(
    rig: Rig, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.server.arena.VOIDS_AT_ONCE", 2)
    players = rig.bots("ann", "bob")
    for _ in range(3):
        rig.finish(rig.begin(players), [5, 3])  # at 2,000,001 µs
    operator, request = OperatorService(rig.arena), operator_pb2.VoidResultsRequest(bot="ANN", reason="a ring")
    assert (await refused(operator.VoidResults(request, CALL)))[0] is grpc.StatusCode.PERMISSION_DENIED
    for seconds in (3, 1 << 62):
        request.since.seconds = seconds
        assert list((await operator.VoidResults(request, rig.operator)).match_ids) == []
    request.since.FromMicroseconds(2_000_001)
    for after, page in ((0, [1, 2]), (2, [3]), (3, []), ((1 << 64) - 1, [])):
        request.after = after
        assert list((await operator.VoidResults(request, rig.operator)).match_ids) == page
    assert [entry.voided for entry in await rig.listed()] == ["a ring"] * 3
    request.bot = "eve"
    assert (await refused(operator.VoidResults(request, rig.operator)))[0] is grpc.StatusCode.NOT_FOUND
    request.reason = ""
    assert (await refused(operator.VoidResults(request, rig.operator)))[0] is grpc.StatusCode.INVALID_ARGUMENT


SLOW = LadderTable(GAME, (3, 4), {"target": 9}, "slow", "invited", {"soft_limit": 120_000_000}, house=False)
CLOSED = LadderTable(GAME, (2,), name="closed", entry=("ann",))


@pytest.fixture
async def ladders(autojump_clock: MockClock) -> AsyncIterator[Rig]:
    """A server with three ladders of one game, the last in its second season."""
    async with services(ladders=(SLOW, CLOSED)) as rig:
        rig.store.now(partial(seasons.begin, ladder="closed", at=7_000_000))
        yield rig


async def test_the_ladders_are_listed_with_their_terms_and_seasons(ladders: Rig) -> None:
    players = ladders.bots("ann", "bob")
    ladders.finish(ladders.begin(players, ladder_id="closed"), [5, 3])
    ladder = ladders.store.now(lambda connection: Fits().ladder(connection, "closed"))
    ladders.store.now(partial(publish, ladder_id="closed", ladder=ladder, at=6_000_000))
    answer = await ladders.query_services.ListLadders(ladder_pb2.ListLaddersRequest(), CALL)
    usual, slow, closed = answer.ladders
    assert [(each.name, each.game) for each in answer.ladders] == [
        (GAME.name, GAME.name),
        ("slow", GAME.name),
        ("closed", GAME.name),
    ]
    assert ([*slow.seats], dict(slow.options), slow.conduct.soft_limit_ms) == ([3, 4], {"target": "9"}, 120_000)
    assert usual.conduct.soft_limit_ms == closed.conduct.soft_limit_ms == 1000
    assert usual.conduct.ready_ms < slow.conduct.ready_ms
    assert [each.access for each in answer.ladders] == [
        ladder_pb2.LADDER_ACCESS_OPEN,
        ladder_pb2.LADDER_ACCESS_INVITED,
        ladder_pb2.LADDER_ACCESS_LISTED,
    ]
    assert [*usual.seasons] == [*slow.seasons] == [ladder_pb2.LadderSeason(number=1)]
    first, second = closed.seasons
    assert (first.number, first.HasField("begun"), first.published.seconds, first.events) == (1, False, 6, 1)
    assert (second.number, second.begun.seconds, second.HasField("published"), second.events) == (2, 7, False, 0)


async def test_a_request_about_a_ladder_gets_its_season_and_no_other(ladders: Rig) -> None:
    players, asked = ladders.bots("ann", "bob"), ladders.query_services
    begun = {each: ladders.begin(players, ladder_id=each) for each in (GAME.name, "slow", "closed", "closed/2")}
    for match_id in begun.values():
        ladders.finish(match_id, [5, 3])
    cases: list[tuple[dict[str, Any], str, tuple[str, int]]] = [
        ({"game": GAME.name}, GAME.name, ("", 0)),
        ({"game": GAME.name, "ladder": GAME.name, "season": 1}, GAME.name, ("", 0)),
        ({"ladder": "slow"}, "slow", ("slow", 1)),
        ({"game": GAME.name, "ladder": "closed"}, "closed/2", ("closed", 2)),
        ({"ladder": "closed", "season": 1}, "closed", ("closed", 1)),
    ]
    for request, ladder_id, named in cases:
        ladder = await asked.GetLadder(ladder_pb2.GetLadderRequest(**request), CALL)
        assert (ladder.game, ladder.ladder, ladder.season) == (GAME.name, *named)
        assert [row.matches for row in ladder.standings] == [1, 1]
        past = await asked.GetPastLadder(ladder_pb2.GetPastLadderRequest(**request), CALL)
        assert (past.game, past.ladder, past.season) == (GAME.name, *named)
        history = await asked.GetHistory(ladder_pb2.GetHistoryRequest(bot="ann", **request), CALL)
        assert [match.match_id for match in history.matches] == [begun[ladder_id]]
        versions = await asked.ListVersions(ladder_pb2.ListVersionsRequest(bot="ann", **request), CALL)
        assert [version.matches for version in versions.versions] == [1]
        opponents = await asked.GetOpponents(ladder_pb2.GetOpponentsRequest(bot="ann", **request), CALL)
        assert [(row.opponent, row.matches) for row in opponents.opponents] == [("bob", 1)]
        wanted = request if "ladder" in request else request | {"season": 1}
        (match,) = await ladders.listed(**wanted)
        assert (match.match_id, match.game, match.ladder, match.season) == (begun[ladder_id], GAME.name, *named)
    assert len(await ladders.listed(game=GAME.name)) == len(await ladders.listed()) == 4


async def test_a_ladder_or_season_that_is_not_there_is_refused_by_name(ladders: Rig) -> None:
    not_found, invalid = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT
    cases: list[tuple[dict[str, Any], tuple[grpc.StatusCode, str]]] = [
        ({"ladder": "fast"}, (not_found, "this server has no ladder 'fast'; it has sixth_sense, slow, closed")),
        ({"game": "go", "ladder": "slow"}, (not_found, "this server does not play 'go'; it plays sixth_sense")),
        (
            {"ladder": "closed", "season": 3},
            (not_found, "the ladder closed has no season 3; its seasons are numbered from 1 to 2"),
        ),
        ({"season": 2}, (invalid, "season 2 of which ladder? Name the ladder, or the game for its default ladder")),
    ]
    for request, expected in cases:
        for ask in (
            ladders.query_services.GetLadder(ladder_pb2.GetLadderRequest(**request), CALL),
            ladders.query_services.GetHistory(ladder_pb2.GetHistoryRequest(bot="ann", **request), CALL),
            ladders.listed(**request),
        ):
            assert await refused(ask) == expected
    async with services(games=(GAME, HighCard()), ladders=(SLOW,)) as rig:
        other = ladder_pb2.GetLadderRequest(game=HighCard.name, ladder="slow")
        assert await refused(rig.query_services.GetLadder(other, CALL)) == (
            invalid,
            "the ladder slow is of sixth_sense, not of high_card; leave the game out, or name its ladder",
        )
