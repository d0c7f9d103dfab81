"""Events on a running server: seated at random, continued after a restart, never rated, decided by the pure rules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio
from sqlalchemy import Connection, select

from arena.replay.header import MatchKind, OfferOutcome
from arena.scheduling.event.course import race_document
from arena.server.arena import Arena
from arena.server.config import LadderTable
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import Closed, Outgoing, Reason
from arena.store import schema
from arena.store.base.errors import BadEvent, EventRefused
from arena.store.base.rows import MatchRow, MatchState
from arena.store.log.audit import audit
from arena.store.matches import contests, matches
from arena.store.matches.contests import EventPlan, StoredEvent
from tests.server.server_rig import GAME, Bot, Hall, HouseBot, MemoryStore, answer, replay_of, running
from tests.server.webhook_receiver import Receiver, receiving
from tests.waiting import until

pytestmark = pytest.mark.virtual_clock

T = TypeVar("T")
HOUSE = (HouseBot("house-one"), HouseBot("house-two"))
SOON = 30 * 1_000_000
SLOW = LadderTable(GAME, (2,), name="slow")
NAMES = ("ann", "bob", "cleo", "dora", "emil")


class Guest(Bot):
    """A bot that can decline the ladder's matches, so that time passes."""

    only_events = True

    def hear(self, message: Outgoing) -> None:
        if self.only_events:
            others = [each for each in message.invitations if each.kind is not MatchKind.EVENT]
            message.invitations[:] = [each for each in message.invitations if each not in others]
            if others:
                self.line.say(declined=[each.invitation_id for each in others])
        super().hear(message)

    def again(self, **changes: Any) -> Guest:
        return Guest(self.row, **({"capacity": self.hello.capacity} | changes))


def plan(**changes: Any) -> EventPlan:
    settings: dict[str, Any] = {"name": "friday", "ladder": GAME.name, "seats": 2, "format": "race", "matches": 10}
    settings |= {"seconds": None, "entry": "open", "start": now_us() + SOON}
    return EventPlan(**settings | changes)


def event_of(store: MemoryStore, name: str = "friday") -> StoredEvent:
    return store.now(partial(contests.find, name=name))


def event_matches(store: MemoryStore) -> list[MatchRow]:
    listed: Sequence[MatchRow] = store.now(partial(matches.list_matches, limit=500))
    return [row for row in reversed(listed) if row.kind is MatchKind.EVENT]


async def here(hall: Hall, *bots: Bot) -> None:
    hall.join(*bots)
    for bot in bots:
        await bot.until(lambda bot=bot: bot.welcome)  # type: ignore[misc]


async def over(store: MemoryStore, name: str = "friday") -> StoredEvent:
    with trio.fail_after(50_000):
        while not (event := event_of(store, name)).over:
            await trio.sleep(1)
    return event


def in_order(store: MemoryStore, event: StoredEvent) -> dict[str, Any]:
    """Return the result, after checking that it follows from the stored data, and that each table was played once."""
    result: dict[str, Any] = json.loads(event.result)
    course = store.now(partial(contests.course, event=event))
    assert race_document(course.race) == result
    assert store.now(audit).faults == []
    tables = store.now(partial(contests.tables, event_id=event.id))
    assert [table.number for table in tables] == list(range(result["matches"]))
    finished = [row.match_id for row in event_matches(store) if row.state is MatchState.FINISHED]
    assert sorted(table.match_id for table in tables) == finished
    for table in tables:
        assert replay_of(store, table.match_id).header.event == f"{event.plan.name}/{table.number}"
    return result


def bots_of(store: MemoryStore, names: Sequence[str] = NAMES) -> list[Guest]:
    return [Guest(store.register(name)) for name in names]


async def test_an_event_is_played_to_its_result_and_rates_nobody(hall: Hall, store: MemoryStore) -> None:
    bots = bots_of(store)
    for bot in bots:
        bot.only_events = False
    async with hall.open(house_bots=HOUSE, house=True) as arena:
        await here(hall, *bots)
        await bots[0].until(lambda: bots[0].reports)
        await arena.events.create(plan(), NAMES[1:])
        await arena.events.enter("friday", "ann", invited=False)
        await arena.events.start("friday")
        await bots[1].until(lambda: any(each.kind is MatchKind.EVENT for each in bots[1].invitations))
        await bots[0].until(lambda: event_of(store).over)
        event = event_of(store)
        begun = event_matches(store)[0]
        [*_, last] = event_matches(store)
        between = [
            row
            for row in store.now(partial(matches.list_matches, limit=500))
            if begun.match_id < row.match_id < last.match_id and row.kind is MatchKind.RATED
        ]
        assert len(between) <= len(bots), "bots with room for one match play only the event, once their match is over"
        assert len(event_matches(store)) == 10
        assert Counter(seat.bot for row in event_matches(store) for seat in row.seats) == dict.fromkeys(NAMES, 4)
        assert {seat.rating_after for row in event_matches(store) for seat in row.seats} == {None}
        assert {report.rating for bot in bots for report in bot.reports if report.kind is MatchKind.EVENT} == {None}
        assert in_order(store, event)["decided"] is False
        assert {player.offers.availability.reserved for player in arena.players} == {0}


async def test_a_server_that_was_killed_loses_doubles_and_charges_nothing(hall: Hall, store: MemoryStore) -> None:
    bots = bots_of(store)
    async with running(store, HOUSE, house=True) as arena, trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.attend, arena)
        await bots[-1].until(lambda: bots[-1].welcome)
        await arena.events.create(plan(), NAMES)
        await arena.events.start("friday")
        await bots[1].until(lambda: any(each.kind is MatchKind.EVENT for each in bots[1].reports))
        for bot in bots:
            bot.answers = False
        await trio.sleep(5)
        assert any(row.state is MatchState.PLAYING for row in event_matches(store))
        await arena.drain(0)
        nursery.cancel_scope.cancel()
    store.reopen()
    [*lost] = store.now(matches.playing)
    assert lost
    before = len(event_matches(store))
    async with hall.open(house_bots=HOUSE, house=True):
        await here(hall, *[bot.again() for bot in bots])
        event = await over(store)
        assert len(event_matches(store)) == 10
        assert before < 10
        assert in_order(store, event)["matches"] == 10
        parked = store.now(lambda connection: connection.execute(select(schema.bots.c.troubles)).scalars().all())
        assert {*parked} == {"[]"}


async def test_a_table_without_a_result_is_played_again_with_the_same_seats(hall: Hall, store: MemoryStore) -> None:
    bots = bots_of(store)
    async with running(store, HOUSE, house=True) as arena, trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.attend, arena)
        await bots[-1].until(lambda: bots[-1].welcome)
        await arena.events.create(plan(), NAMES)
        for bot in bots:
            bot.answers = False
        await arena.events.start("friday")
        while sum(len(bot.questions) for bot in bots) < 2:
            await trio.sleep(0.1)
        await arena.drain(0)
        nursery.cancel_scope.cancel()
    store.reopen()
    lost = store.now(matches.playing)
    store.unfinished = {}
    store.now(partial(matches.interrupt, match_ids=lost, reason="the journal was lost", at=now_us()))
    seats = [[seat.bot for seat in row.seats] for row in event_matches(store)]
    assert len(seats) == 2
    async with hall.open(house_bots=HOUSE, house=True):
        await here(hall, *[bot.again() for bot in bots])
        event = await over(store)
        assert in_order(store, event)["matches"] == 10
        again = [[seat.bot for seat in row.seats] for row in event_matches(store)][2:4]
        assert sorted(again) == sorted(seats)


class SlowStore(MemoryStore):
    """A store whose answers arrive late, and which takes a different time for each write."""

    writes = 0

    async def write(self, job: Callable[[Connection], T]) -> T:
        self.writes += 1
        await trio.sleep(0.003 * (self.writes % 5))
        return await super().write(job)

    async def read(self, job: Callable[[Connection], T]) -> T:
        found = self.now(job)
        await trio.sleep(0.02)
        return found


async def test_a_slow_answer_of_the_store_doubles_no_table(nursery: trio.Nursery) -> None:
    store = SlowStore()
    hall, bots = Hall(store, nursery), bots_of(store)
    async with hall.open(house_bots=HOUSE, house=True) as arena:
        await here(hall, *bots)
        await arena.events.create(plan(), NAMES)
        await arena.events.start("friday")
        event = await over(store)
        assert in_order(store, event)["matches"] == 10
        assert len(event_matches(store)) == 10


async def test_who_is_gone_for_two_rounds_is_out_and_the_house_plays_for_the_silent(
    hall: Hall, store: MemoryStore
) -> None:
    bots = bots_of(store)
    async with hall.open(house_bots=HOUSE, house=True) as arena:
        await here(hall, *bots)
        await arena.events.create(plan(matches=30, format="all"), NAMES)
        bots[0].accepts = False
        await arena.events.start("friday")
        await bots[1].until(lambda: any(each.kind is MatchKind.EVENT for each in bots[1].reports))
        bots[1].line.vanish()
        event = await over(store)
        result = in_order(store, event)
        still_in = {each["bot"]: each["still_in"] for each in result["standings"]}
        assert still_in == {"ann": False, "bob": False, "cleo": True, "dora": True, "emil": True}
        silent = [row for row in event_matches(store) if "ann" in {seat.bot for seat in row.seats}]
        assert silent == []
        assert any("house" in seat.bot for row in event_matches(store) for seat in row.seats)
        assert arena.players.availability(bots[0].row.id).failed[OfferOutcome.SILENT] == 0


async def test_an_event_with_a_budget_of_time_ends_with_it(hall: Hall, store: MemoryStore) -> None:
    bots = bots_of(store)
    async with hall.open(house_bots=HOUSE, house=True, seats=(2, 3)) as arena:
        await here(hall, *bots)
        await arena.events.create(plan(matches=None, seconds=5, seats=3), NAMES)
        for bot in bots:
            bot.answers = False
        await arena.events.start("friday")
        event = await over(store)
        rolls = store.now(partial(contests.rolls, event_id=event.id))
        assert (rolls[-1].used, rolls[-1].present) == (1000, ())
        assert in_order(store, event)["matches"] >= 1


async def test_the_first_round_waits_for_a_bot_without_room(hall: Hall, store: MemoryStore) -> None:
    bots = [ann, *others] = bots_of(store)
    ann.only_events = ann.answers = False
    async with hall.open(house_bots=HOUSE, house=True) as arena:
        await here(hall, ann)
        await ann.until(lambda: ann.questions)
        await here(hall, *others)
        await arena.events.create(plan(), NAMES)
        await arena.events.start("friday")
        await trio.sleep(5)
        assert event_matches(store) == []
        ann.only_events = ann.answers = True
        ann.line.say((), [answer(ann.questions[-1])])
        event = await over(store)
        assert store.now(partial(contests.rolls, event_id=event.id))[0].present == tuple(each.row.id for each in bots)
        in_order(store, event)


async def test_an_event_begins_at_the_next_start_of_a_server_that_stops(hall: Hall, store: MemoryStore) -> None:
    bots = bots_of(store)
    async with running(store, HOUSE, house=True) as arena:
        await arena.events.create(plan(start=now_us() + 1_000), NAMES)
        await arena.drain(0)
        with pytest.raises(EventRefused, match="is stopping: start the event friday after the server's next start"):
            await arena.events.start("friday")
        with pytest.raises(BadEvent, match="is stopping: announce the event after its start"):
            await arena.events.create(plan(name="sunday"), NAMES)
        await trio.sleep(1)
    assert event_of(store).state == "announced"
    store.reopen()
    async with hall.open(house_bots=HOUSE, house=True):
        await here(hall, *bots)
        assert in_order(store, await over(store))["matches"] == 10


async def test_bad_events_are_refused_by_name(hall: Hall, store: MemoryStore) -> None:
    [ann, *_] = bots_of(store)
    async with hall.open(house_bots=HOUSE, house=True) as arena:
        await here(hall, ann)
        for bad, words in (
            (plan(ladder="chess"), "this server has the ladders .*, not 'chess'"),
            (plan(seats=5), "has tables of 2, not 5"),
            (plan(matches=0), "a budget of nothing"),
            (plan(start=now_us() - 1), "the start is in the past"),
        ):
            with pytest.raises(BadEvent, match=words):
                await arena.events.create(bad, ())
        await arena.events.create(plan(), ["ann", "bob"])
        with pytest.raises(EventRefused, match="two bots or more, and ann checked in"):
            await arena.events.start("friday")
        event = await over(store)
        assert (event.state, "ann checked in" in event.result) == ("cancelled", True)
        await arena.events.create(plan(name="rain"), ["ann", "bob"])
        await arena.events.cancel("rain", "it rains")
        with pytest.raises(EventRefused, match="is cancelled already"):
            await arena.events.start("rain")
        assert store.now(audit).faults == []


async def test_a_hello_enters_events_and_the_welcome_confirms_them(hall: Hall, store: MemoryStore) -> None:
    def names(bot: Guest, *entries: tuple[str, bytes]) -> Guest:
        again = bot.again()
        again.hello = bot.hello._replace(events=entries)
        return again

    [ann, bob, cleo, *_] = bots_of(store)
    async with hall.open(house_bots=HOUSE, house=True, ladders=(SLOW,)) as arena:
        await arena.events.create(plan(), ["cleo"])
        await arena.events.create(plan(name="finals", entry="invited"), ["bob"])
        await arena.events.create(plan(name="sunday", ladder="slow"), ())
        for event, words in (
            ("rain", "hello.events: there is no event 'rain'"),
            ("finals", "hello.events: the event finals is for invited bots: ask its operator"),
            (
                "sunday",
                "the event sunday is on the ladder slow, and the bot plays on counting: let it play on slow, too",
            ),
        ):
            refused = names(ann, ("friday", b""), (event, b""))
            hall.join(refused)
            await refused.until(lambda: refused.end)  # noqa: B023
            assert isinstance(refused.end, Closed)
            assert (refused.end.reason, words in str(refused.end)) == (Reason.BAD_MESSAGE, True), refused.end
        both = names(bob, ("friday", bytes(range(16))), ("finals", b""))
        await here(hall, both, names(ann, ("friday", b"")))
        assert both.welcome is not None
        assert both.welcome.events == ("friday", "finals")
        await arena.events.start("friday")
        found = store.now(partial(contests.entrants, event_id=event_of(store).id))
        assert {each.name: each.nonce for each in found} == {"ann": bytes(16), "bob": bytes(range(16)), "cleo": None}
        await here(hall, names(ann, ("friday", b"")))
        late = names(cleo, ("friday", b""))
        hall.join(late)
        await late.until(lambda: late.end)
        assert "the event friday began without cleo, which was not connected" in str(late.end)


async def test_a_ladder_without_house_bots_has_no_events(hall: Hall, store: MemoryStore) -> None:
    async with hall.open() as arena:
        assert isinstance(arena, Arena)
        with pytest.raises(BadEvent, match="has no house bots, which fill tables of an event: set `house`"):
            await arena.events.create(plan(), ())


@pytest.mark.process
async def test_an_event_is_reported_with_its_leaves(hall: Hall, store: MemoryStore, tmp_path: Path) -> None:
    receiver, guests = Receiver(), bots_of(store, ("ann", "bob"))
    with receiving(receiver) as address:
        async with hall.open(house_bots=HOUSE, house=True, webhook=address, data=tmp_path) as arena:
            await here(hall, *guests)
            await arena.events.create(plan(matches=2), ("ann", "bob"))
            await arena.events.start("friday")
            await over(store)
            await arena.events.create(plan(name="rained-off"), ())
            await arena.events.cancel("rained-off", "rain")
            until(lambda: len(receiver.accepted) == 5, "the messages")
    found = [(each["kind"], each["event"], json.loads(each["leaf"])["kind"]) for each in receiver.accepted]
    assert found == [
        ("event_announced", "friday", "event"),
        ("event_begun", "friday", "entrants"),
        ("event_over", "friday", "outcome"),
        ("event_announced", "rained-off", "event"),
        ("event_cancelled", "rained-off", "outcome"),
    ]
    assert (receiver.accepted[1]["bots"], receiver.accepted[2]["matches"]) == (2, 2)
    assert receiver.accepted[-1]["reason"] == "rain"
