"""Casual matches on a running server: unrated, only with house bots, limited per hour, and free of charge."""

from __future__ import annotations

import pytest
import trio

from arena.replay.header import MatchKind
from arena.server.arena import Arena
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import Closed, NoticeKind, Reason
from arena.store.base.rows import MatchRow
from arena.store.bots import bots
from arena.store.matches import matches
from tests.server.server_rig import Bot, Hall, HouseBot, MemoryStore

pytestmark = pytest.mark.virtual_clock

HOUSE = [HouseBot("house-a"), HouseBot("house-b")]


def casual(store: MemoryStore, name: str, owner: str = "", capacity: int = 1) -> Bot:
    bot = Bot(store.register(name, owner), capacity=capacity)
    bot.hello = bot.hello._replace(casual=True)
    return bot


class Slow(Bot):
    """A bot that takes half a second per answer."""

    async def _listen(self) -> None:
        while True:
            message = await self.line.read()
            if message.questions:
                await trio.sleep(0.5)
            self.hear(message)
            self.told.unpark_all()


def listed(store: MemoryStore) -> tuple[MatchRow, ...]:
    return store.now(lambda connection: matches.list_matches(connection, limit=1000))


async def test_a_casual_bot_plays_house_bots_only_and_no_rating_moves(hall: Hall, store: MemoryStore) -> None:
    ann, bob, cleo = casual(store, "ann", capacity=2), Bot(store.register("bob")), Bot(store.register("cleo"))
    async with hall.open(house_bots=HOUSE, house=True):
        for bot in (ann, bob, cleo):
            hall.join(bot)
        await ann.until(lambda: len(ann.reports) >= 6)
        await bob.until(lambda: len(bob.reports) >= 6)
    assert {each.kind for each in ann.invitations} == {each.kind for each in ann.starts} == {MatchKind.CASUAL}
    assert {each.kind for each in ann.reports} == {MatchKind.CASUAL}
    assert {report.rating for report in ann.reports} == {None}
    assert {name for start in ann.starts for name in start.bots} == {"ann", "house-a", "house-b"}
    assert all(report.rating is not None for report in bob.reports)
    of_ann = [row for row in listed(store) if any(seat.bot == "ann" for seat in row.seats)]
    assert {row.kind for row in of_ann} == {MatchKind.CASUAL}
    assert {row.kind for row in listed(store) if row not in of_ann} == {MatchKind.RATED}


async def test_casual_matches_move_no_balance(hall: Hall, store: MemoryStore) -> None:
    """If they did, a bot that plays casual matches slowly would gain more opponents in rated matches."""
    ann, bob = Slow(store.register("ann")), Slow(store.register("bob"))
    ann.hello = ann.hello._replace(casual=True)
    async with hall.open(house_bots=HOUSE, house=True) as arena:
        for bot in (ann, bob):
            hall.join(bot)
        await ann.until(lambda: ann.welcome is not None)
        await bob.until(lambda: bob.welcome is not None)
        players = {player.name: player for player in arena.players}
        before = {name: player.offers.pace.balance for name, player in players.items()}
        await ann.until(lambda: len(ann.reports) >= 2)
        await bob.until(lambda: bob.reports)
        assert players["ann"].offers.pace.balance == before["ann"]
        assert players["bob"].offers.pace.balance > before["bob"]
        assert not players["ann"].offers.last_length


async def test_casual_matches_are_counted_for_all_bots_of_an_owner_and_go_on_with_the_hour(
    hall: Hall, store: MemoryStore
) -> None:
    ann, bob = casual(store, "ann", "anna"), casual(store, "bob", "Anna")
    async with hall.open(ann, house_bots=HOUSE, house=True, limits=Limits(casual_per_owner=6)):
        await ann.until(lambda: ann.notices)
        assert len(ann.reports) == 6
        hall.join(bob)
        await bob.until(lambda: bob.notices)
        assert not bob.invitations
        [notice] = bob.notices
        assert (notice.kind, notice.casual_wait) == (NoticeKind.CASUAL_LIMIT, 600_000_000)
        assert "6 casual matches an hour" in notice.text
        began = trio.current_time()
        await bob.until(lambda: bob.reports)
        assert trio.current_time() - began in (600, 1200), "one each ten minutes, in turn"
        await ann.until(lambda: len(ann.reports) == 7)
        assert trio.current_time() - began <= 1200


async def test_a_rated_match_comes_as_soon_as_the_author_leaves_the_flag_out(hall: Hall, store: MemoryStore) -> None:
    ann = casual(store, "ann")
    async with hall.open(ann, house_bots=HOUSE, house=True):
        await ann.until(lambda: ann.reports)
        rated = ann.again()
        hall.join(rated)
        await rated.until(lambda: rated.reports and rated.reports[-1].kind is MatchKind.RATED)
        assert rated.reports[-1].rating is not None


async def test_troubles_in_casual_matches_park_nobody_and_those_after_them_do(hall: Hall, store: MemoryStore) -> None:
    ann = casual(store, "ann")
    ann.answers = False
    async with hall.open(ann, house_bots=HOUSE, house=True):
        await ann.until(lambda: len(ann.reports) >= 5)
        assert store.now(lambda connection: bots.find(connection, "ann")).troubles == ()
        rated = ann.again()
        rated.answers = False
        hall.join(rated)
        await rated.until(lambda: NoticeKind.PARKED in rated.kinds())


async def test_a_match_owed_to_a_failed_invitation_is_charged_though_it_is_unrated(
    hall: Hall, store: MemoryStore
) -> None:
    ann = Bot(store.register("ann"))
    ann.accepts = ann.answers = False
    async with hall.open(ann, house_bots=HOUSE, house=True):
        await ann.until(lambda: ann.invitations)
        ann.line.say(declined=[ann.invitations[0].invitation_id])
        ann.accepts = True
        await ann.until(lambda: ann.reports)
        assert ann.reports[0].kind is MatchKind.CASUAL
        assert store.now(lambda connection: bots.find(connection, "ann")).troubles == (ann.reports[0].match_id,)


@pytest.mark.parametrize("without", ["house bots", "an allowance"])
async def test_who_wants_casual_matches_where_there_are_none_is_told_so(
    hall: Hall, store: MemoryStore, without: str
) -> None:
    ann = casual(store, "ann")
    house = [] if without == "house bots" else HOUSE
    async with hall.open(
        house_bots=house, house=bool(house), limits=Limits(casual_per_owner=0 if house else 5)
    ) as arena:
        await ann.attend(arena)
    assert isinstance(ann.end, Closed)
    assert ann.end.reason is Reason.NO_CASUAL
    assert "gives no casual matches" in str(ann.end)


async def test_nobody_waits_for_a_casual_bot_and_it_takes_no_seat_that_another_left(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = casual(store, "ann", capacity=5), Bot(store.register("bob"))
    dora = Bot(store.register("dora"))
    dora.accepts = False
    async with hall.open(house_bots=HOUSE, house=True, patience=5.0) as arena:
        await _come(arena, nursery, ann, bob, dora)
        await bob.until(lambda: len(bob.reports) >= 3)
    met = {name for start in bob.starts for name in start.bots}
    assert "ann" not in met
    assert met & {"house-a", "house-b"}


async def _come(arena: Arena, nursery: trio.Nursery, *here: Bot) -> None:
    for bot in here:
        nursery.start_soon(bot.attend, arena)
