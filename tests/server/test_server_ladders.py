"""Several ladders of one game on a server: events on one ladder affect neither another nor its earlier seasons."""

from __future__ import annotations

import pytest
import trio
from sqlalchemy import Connection
from structlog.testing import capture_logs

from arena.api.metrics import metric_documents
from arena.replay.header import MatchKind
from arena.server.arena import Arena
from arena.server.config import LadderTable
from arena.server.matchmaking.challenges import BadChallenge, NotChallenged
from arena.server.sessions.messages import NoticeKind, Outgoing
from arena.store.base.errors import NoSuchLadder
from arena.store.bots import bots
from arena.store.ladder import events
from arena.store.log.audit import audit
from arena.store.matches import matches
from tests.server.server_rig import GAME, Bot, Hall, HouseBot, MemoryStore, answer, running

pytestmark = pytest.mark.virtual_clock

SECOND = f"{GAME.name}/2"


async def test_a_season_begins_everything_anew_and_running_matches_end_in_theirs(nursery: trio.Nursery) -> None:
    store = MemoryStore()
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))

    def spent(arena: Arena) -> int:
        return len(arena.matchmaker._queues[GAME.name].spent.of(ann.row.id, 0))

    async with running(store, pair_quota=1) as arena, trio.open_nursery() as streams:
        for bot in (ann, bob):
            streams.start_soon(bot.attend, arena)
        await ann.until(lambda: ann.reports)
        ann.answers = bob.answers = False
        await ann.until(lambda: len(ann.starts) == 2)
        player = arena.players.get(ann.row.id)
        assert player is not None
        assert (spent(arena), player.offers.pending[GAME.name]) == (1, 2)
        with pytest.raises(NoSuchLadder, match=f"no ladder 'slow'; there is {GAME.name}"):
            await arena.begin_season("slow")
        season = await arena.begin_season(GAME.name)
        assert (season.number, arena.ladder_ids) == (2, {GAME.name: SECOND})
        assert (spent(arena), player.offers.pending[GAME.name]) == (0, 0)
        await arena.drain(0)
        streams.cancel_scope.cancel()
    store.reopen()
    ann, bob = ann.again(), bob.again()
    async with running(store, pair_quota=1) as arena:
        assert (spent(arena), arena.ladder_ids) == (0, {GAME.name: SECOND})
        nursery.start_soon(ann.attend, arena)
        nursery.start_soon(bob.attend, arena)
        await ann.until(lambda: ann.reports)
        assert spent(arena) == 0, "a match of the first season spends nothing of the second"
        await ann.until(lambda: len(ann.reports) == 2)
        assert spent(arena) == 1
        assert (arena.publisher.news(GAME.name), arena.publisher.news(SECOND)) == (1, 1)
        with capture_logs() as lines:
            for match_id in (1, 3):
                await arena.void(match_id, "a test")
        named = [(line.get("game"), line.get("ladder")) for line in lines if line["event"] == "result void"]
        assert named == [(GAME.name, None), (None, SECOND)], "older log lines keep their keys"

    def results(connection: Connection, ladder_id: str) -> list[int]:
        return [event.match_id for event in events.read(connection, ladder_id)]

    assert store.now(lambda connection: results(connection, GAME.name)) == [1, 2, 1]
    assert store.now(lambda connection: results(connection, SECOND))[0] == 3
    assert {row.match_id for row in store.now(lambda each: matches.list_matches(each, ladder_id=SECOND))} >= {3}
    found = store.now(lambda connection: audit(connection, replays=True))
    assert (found.faults, found.kinds["season"]) == ([], 1)


SLOW = LadderTable(GAME, (2,), name="slow")


async def test_a_bot_is_invited_on_the_ladders_that_it_named_and_to_no_other(nursery: trio.Nursery) -> None:
    store = MemoryStore()
    here = {name: Bot(store.register(name)) for name in ("ann", "bob", "cleo", "dan", "eve")}
    for name in ("ann", "bob"):  # The others name no ladders, like clients of an older version.
        here[name].hello = here[name].hello._replace(ladders=("slow",))
    here["eve"].hello = here["eve"].hello._replace(ladders=("slow", GAME.name))
    async with running(store, ladders=(SLOW,)) as arena:
        for bot in here.values():
            nursery.start_soon(bot.attend, arena)
        await here["eve"].until(lambda: {start.ladder for start in here["eve"].starts} == {"", "slow"})
        for bot in here.values():
            await bot.until(bot.reports.__len__)
        expected = {"ann": {"slow"}, "bob": {"slow"}, "cleo": {""}, "dan": {""}, "eve": {"", "slow"}}
        for name, ladders in expected.items():
            assert {invitation.ladder for invitation in here[name].invitations} == ladders, name
            assert {start.ladder for start in here[name].starts} == ladders, name
            assert {start.game for start in here[name].starts} == {GAME.name}


class SilentOn(Bot):
    """A bot that sends no answers in matches of one ladder."""

    ladder = "slow"

    def hear(self, message: Outgoing) -> None:
        self.answers = False
        super().hear(message)
        silent = {start.match_id for start in self.starts if start.ladder == self.ladder}
        if answers := [answer(each) for each in message.questions if each.match_id not in silent]:
            self.line.say(answers=answers)


async def test_a_bot_that_is_parked_on_a_ladder_plays_on_the_others(hall: Hall, store: MemoryStore) -> None:
    tables = tuple(LadderTable(GAME, (2,), name=name) for name in ("slow", "closed"))
    names = (GAME.name, "slow", "closed")
    ann, house = SilentOn(store.register("ann")), [HouseBot("house-a")]
    ann.hello = ann.hello._replace(ladders=names, capacity=9)
    async with hall.open(house_bots=house, house=True, ladders=tables, matches_per_hour=3600) as arena:
        hall.join(ann)
        await ann.until(lambda: NoticeKind.PARKED in ann.kinds())
        [notice] = [notice for notice in ann.notices if notice.kind is NoticeKind.PARKED]
        assert notice.text.startswith("ann is parked on slow and given no seats there: in matches ")
        ann.ladder = ""
        player = arena.players.get(ann.row.id)
        assert player is not None
        assert player.parked == {"slow"}
        assert [player.offers.pace_on(ladder).known for ladder in ("", "slow", "closed")] == [True, False, True]
        await ann.until(lambda: ann.kinds().count(NoticeKind.PARKED) == 2)
        assert ann.notices[-1].text.startswith("ann is parked and given no seats: in matches ")
        assert player.parked == {"", "slow"}
        begun = len(ann.starts)
        await ann.until(lambda: len(ann.starts) > begun + 10)
        assert {start.ladder for start in ann.starts[begun + 5 :]} == {"closed"}, "but for those that were beginning"
    async with hall.open(house_bots=house, house=True, ladders=tables, matches_per_hour=3600) as arena:
        again = ann.again()
        again.row = store.now(lambda connection: bots.find(connection, "ann"))
        again.hello = ann.hello
        hall.join(again)
        await again.until(lambda: again.reports)
        assert [notice.text.partition(" and given")[0] for notice in again.notices] == [
            "ann is parked",
            "ann is parked on slow",
        ]
        await arena.accounts.unpark("ann")
        begun = len(again.starts)
        await again.until(lambda: len(again.starts) > begun + 10)
        assert {start.ladder for start in again.starts[begun:]} == {"", "slow", "closed"}


async def test_challenges_and_figures_are_of_a_ladder(hall: Hall, store: MemoryStore) -> None:
    ann, bob = (Bot(store.register(name, "one")) for name in ("ann", "bob"))
    for bot in (ann, bob):
        bot.hello = bot.hello._replace(ladders=("slow",), challenges=True)
    async with hall.open(ann, bob, ladders=(SLOW,)) as arena:
        await bob.until(lambda: bob.welcome)
        for game, ladder, refusal, why in (
            (GAME.name, "", NotChallenged, f"ann plays slow, not {GAME.name}"),
            ("", "fast", BadChallenge, f"this server plays {GAME.name}, slow, not fast"),
            ("whist", "slow", BadChallenge, f"the ladder slow is of {GAME.name}, not of whist"),
        ):
            with pytest.raises(refusal, match=why):
                await arena.matchmaker.challenge("ann", ["bob"], game, ladder)
        match_id = await arena.matchmaker.challenge("ann", ["bob"], "", "slow")
        await ann.until(lambda: ann.reports)
        row = store.now(lambda connection: matches.get_match(connection, match_id))
        assert (row.ladder, row.kind) == ("slow", MatchKind.CHALLENGE)
        text = metric_documents(arena)["/metrics"]("").content.decode()
    assert f'arena_matches_total{{game="{GAME.name}",kind="challenge",ladder="slow"}} 1.0' in text
    assert f'arena_fit_seconds_count{{game="{GAME.name}",ladder="slow"}} 0.0' in text
    assert f'arena_bots_waiting{{game="{GAME.name}"}} 0.0' in text
    async with hall.open() as arena:
        assert "ladder=" not in metric_documents(arena)["/metrics"]("").content.decode()


async def test_a_match_of_a_ladder_that_is_gone_is_void(store: MemoryStore) -> None:
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
    async with running(store, ladders=(SLOW,)) as arena, trio.open_nursery() as streams:
        for bot in (ann, bob):
            bot.hello, bot.answers = bot.hello._replace(ladders=("slow",)), False
            streams.start_soon(bot.attend, arena)
        await ann.until(lambda: ann.questions)
        await arena.drain(0)
        streams.cancel_scope.cancel()
    store.reopen()
    async with running(store):
        row = store.now(lambda connection: matches.get_match(connection, 1))
    assert row.reason.endswith(f": this server does not play {GAME.name} on the ladder slow")
