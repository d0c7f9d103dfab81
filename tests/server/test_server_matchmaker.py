"""Formation of tables: opponents, numbers of simultaneous matches, and waiting times. With a virtual clock."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import thread_time
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.ladder.events import DAY
from arena.ladder.live import NEW, Rating, RatingChange
from arena.match.policy import ReadyLimits
from arena.replay.header import MatchKind
from arena.scheduling.information_gain import match_values
from arena.scheduling.pace import OwedTime
from arena.server.config import LadderSettings, LadderTable
from arena.server.matches.ready_check import ReadyCheck
from arena.server.matchmaking.matchmaker import Matchmaker
from arena.server.matchmaking.search_seats import SearchSeats
from arena.server.runtime.timers import Timers
from arena.server.sessions.admission import on_its_ladders
from arena.server.sessions.messages import Closed, Hello
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.server.sessions.players import Players
from arena.server.sessions.session import Session
from arena.server.workers.search import SearchWorker
from tests.match.counting import CountingGame
from tests.server.pace_rig import Played
from tests.server.server_rig import CODEC, GAME, POLICY, QUICK, Line, config, house_players, ladder, turns

pytestmark = pytest.mark.virtual_clock

PATIENCE = 2.0
BOTH = (GAME.name, "whist")
NO_LIMITS = ReadyLimits(math.inf, math.inf, math.inf)


class Whist(CountingGame):
    """A second game."""

    name = "whist"


class Rig:
    """A matchmaker and the tables that it formed. Their seats are occupied until `over`."""

    def __init__(
        self,
        nursery: trio.Nursery,
        house: Sequence[HousePlayer] = (),
        ladders: tuple[LadderTable, ...] = (),
        **changes: Any,
    ) -> None:
        self.start = trio.current_time()
        settings = config(**{"patience": PATIENCE, "house": bool(house)} | changes)
        settings = replace(settings, ladder_tables=ladders or settings.ladder_tables)
        timers, self.turns = Timers(), turns()
        further = {each.name: each.pace_rules for each in settings.ladders if each.further_name}
        self.players = Players(further=further)
        search_seats = SearchSeats(0.0, {}, SearchWorker(self.turns, lambda *_: None))
        fillers = {each.name: house if each.house else () for each in settings.ladders}
        self.matchmaker = Matchmaker(settings, self.players, fillers, self.turns, timers.watch, search_seats)
        self.matchmaker.open(self._seat)
        self.drivers: list[tuple[float, ReadyCheck]] = []
        nursery.start_soon(self.turns.run)
        nursery.start_soon(timers.run)

    def come(
        self,
        name: str,
        owner: str = "",
        capacity: int = 1,
        games: tuple[str, ...] = (GAME.name,),
        pace: float = QUICK,
        ladders: tuple[str, ...] = (),
    ) -> BotPlayer:
        hello = Hello(games, capacity, "", ladders=ladders)
        bot_player = self.players.enter(len(self.players) + 1, name, owner or name)
        for further_name in self.players.pace_rules:
            bot_player.offers.pace_on(further_name).played(trio.current_time(), pace)
        bot_player.connected(trio.current_time(), Session(Line(), CODEC, hello, turns()))
        self.players.changed(bot_player)
        return bot_player

    def go(self, bot_player: BotPlayer) -> None:
        assert bot_player.session is not None
        bot_player.disconnected(trio.current_time(), bot_player.session)
        self.players.release(bot_player)

    def over(self, number: int = 0, changes: Sequence[RatingChange] = ()) -> None:
        at, table = self.drivers[number]
        table.dissolve()
        seats, length = len(table.players), trio.current_time() - at
        played = Played(table.players, table.ladder.name, length, OwedTime(seats), [True] * seats)
        self.matchmaker.match_ended(played, table, changes)
        for player in table.players:
            if isinstance(player, BotPlayer):
                self.players.release(player)

    def names(self) -> list[list[str]]:
        return [sorted(player.name for player in table.players) for _, table in self.drivers]

    def times(self) -> list[float]:
        return [round(at - self.start, 6) for at, _ in self.drivers]

    def _seat(self, on: LadderSettings, players: Sequence[Player], kind: MatchKind, _: object) -> ReadyCheck:
        ready_check = ReadyCheck(on, players, bytes(32), math.inf, NO_LIMITS, lambda _: None, kind=kind)
        for player in players:
            if isinstance(player, BotPlayer):
                ready_check.ready(player, b"")
        self.drivers.append((trio.current_time(), ready_check))
        return ready_check


async def test_two_bots_meet_at_once(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    rig.come("ann")
    rig.come("bob")
    await trio.sleep(100)
    assert rig.names() == [["ann", "bob"]]
    assert rig.times() == [0.0]


async def test_who_comes_back_gets_no_second_turn(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, matches_per_hour=60)
    for _ in range(3):
        bots = [rig.come("ann"), rig.come("bob")]
        await trio.sleep(10)
        if len(rig.drivers) == 1:
            rig.over()
        for bot in bots:
            rig.go(bot)
        assert not len(rig.players), "nothing of them is left but their turns"
    assert rig.times() == [0.0]
    rig.come("ann")
    rig.come("bob")
    await trio.sleep(40)
    assert rig.times() == [0.0, 60.0]


async def test_bots_of_one_owner_never_meet(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"))
    for name in ("ann-1", "ann-2", "ann-3"):
        rig.come(name, "ann", capacity=3)
    await trio.sleep(100)
    assert len(rig.drivers) == 9
    assert all("house-a" in names for names in rig.names())


async def test_capacity_is_never_exceeded(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, matches_per_bot=5)
    ann, bob, cleo = rig.come("ann", capacity=3), rig.come("bob", capacity=1000), rig.come("cleo", capacity=1000)
    await trio.sleep(100)
    limits = {ann: 3, bob: 5, cleo: 5}
    assert all(bot.busy <= limit for bot, limit in limits.items())
    assert sum(bot.busy < limit for bot, limit in limits.items()) <= 1, "two with room would have met"
    before = len(rig.drivers)
    rig.over(next(number for number, names in enumerate(rig.names()) if names == ["bob", "cleo"]))
    await wait_all_tasks_blocked()
    assert len(rig.drivers) == before + 1, "who has room again plays again"


async def test_house_bots_fill_the_table_of_a_bot_that_is_alone(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a", "house-b", "house-c"), seats=(4,))
    rig.come("ann")
    await trio.sleep(100)
    assert rig.names() == [["ann", "house-a", "house-b", "house-c"]]
    assert rig.times() == [0.0], "there is nobody to wait for"


async def test_house_bots_wait_while_others_may_come(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"))
    rig.come("ann")
    rig.come("bob")
    await wait_all_tasks_blocked()
    assert rig.names() == [["ann", "bob"]]
    rig.come("cleo")  # ann and bob play, and may be free in a moment
    await trio.sleep(100)
    assert rig.names()[1:] == [["cleo", "house-a"]]
    assert rig.times()[1:] == [PATIENCE]


async def test_a_newcomers_first_match_is_formed_within_5_s(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a", "house-b"), seats=(4,))
    for name in ("ann", "bob", "cleo", "dora", "emil"):
        rig.come(name)
        await trio.sleep(0.1)
    came = trio.current_time()
    rig.come("newcomer")
    await trio.sleep(100)
    first = next(at for at, table in rig.drivers if "newcomer" in {player.name for player in table.players})
    assert first - came <= 5


async def test_without_house_bots_a_lonely_bot_waits(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    rig.come("ann")
    await trio.sleep(1000)
    assert rig.drivers == []
    rig.come("bob")
    await wait_all_tasks_blocked()
    assert rig.times() == [1000.0]


async def test_all_table_sizes_occur_and_no_other(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, seats=(2, 3))
    for name in ("ann", "bob", "cleo", "dora"):
        rig.come(name, capacity=50)
    await trio.sleep(1)
    assert {len(table.players) for _, table in rig.drivers} == {2, 3}


async def test_a_size_that_too_few_are_here_for_holds_nobody_up(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, seats=(2, 5))
    rig.come("ann", capacity=20)
    rig.come("bob", capacity=20)
    await trio.sleep(1)
    assert len(rig.drivers) == 20, "five will never be here: every match is for two"


async def test_a_closed_hall_forms_nothing_and_opens_by_itself(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    rig.matchmaker.close(rig.start + 3)
    rig.come("ann")
    rig.come("bob")
    await trio.sleep(1)
    rig.come("cleo")
    await trio.sleep(1)
    assert rig.drivers == []
    await trio.sleep(10)
    assert rig.times() == [3.0]


async def test_a_hall_that_is_closed_for_good_stays_closed(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"))
    rig.matchmaker.close()
    rig.matchmaker.close(rig.start + 3)
    rig.come("ann")
    await trio.sleep(1000)
    assert rig.drivers == []


async def test_only_bots_that_play_the_game_are_seated(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    rig.come("ann")
    rig.come("bob", games=("whist",))
    await trio.sleep(100)
    assert rig.drivers == []


async def test_a_bot_that_left_is_not_seated_and_forgotten(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    ann = rig.come("ann")
    rig.go(ann)
    rig.come("bob")
    await trio.sleep(100)
    assert rig.drivers == []
    assert ann not in list(rig.players)


async def test_a_bot_that_left_is_kept_while_it_plays(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    ann = rig.come("ann")
    rig.come("bob")
    await wait_all_tasks_blocked()
    rig.go(ann)
    assert ann in list(rig.players)
    rig.over(0)
    assert ann not in list(rig.players)


async def test_bots_that_play_two_games_get_tables_of_both(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, games=(GAME, Whist()))
    rig.come("ann", capacity=60, games=BOTH)
    rig.come("bob", capacity=60, games=BOTH)
    await trio.sleep(1)
    games = Counter(table.ladder.game.name for _, table in rig.drivers)
    assert games.total() == 60
    assert min(games[name] for name in BOTH) >= 10, "neither takes all the room"


async def test_a_bot_that_plays_one_game_after_the_other_still_waits_for_the_second(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"), games=(GAME, Whist()))
    rig.come("bob", games=("whist",))
    await wait_all_tasks_blocked()
    rig.come("ann", games=BOTH)  # bob plays whist, and may be free in a moment
    for number in range(1, 60):
        await trio.sleep(1)
        rig.over(number)
    games = [table.ladder.game.name for at, table in rig.drivers if "ann" in {player.name for player in table.players}]
    assert games[:2] == [GAME.name] * 2, "of whist house bots fill no table before ann has been patient"
    assert "whist" in games, "though she was never without a match for so long"


async def test_a_parked_or_full_bot_delays_nobody(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"))
    parked, _ = rig.come("parked"), rig.come("full", capacity=0)
    parked.parked = {""}
    rig.players.changed(parked)
    rig.come("ann")
    rig.come("bob")
    await trio.sleep(100)
    assert rig.names() == [["ann", "bob"]]
    assert rig.times() == [0.0]


async def test_a_size_for_which_too_few_have_room_is_given_up_when_patience_ends(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, seats=(2, 3, 4, 5))
    for name in ("cleo", "dora", "emil"):
        rig.come(name, capacity=0)  # connected, but always at capacity
    rig.come("ann")
    rig.come("bob")
    await trio.sleep(100)
    assert rig.names() == [["ann", "bob"]]
    assert rig.times()[0] <= PATIENCE


async def test_who_plays_a_long_match_has_not_been_waiting_for_the_next(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"))
    rig.come("ann")
    rig.come("bob")
    await wait_all_tasks_blocked()
    rig.come("cleo", capacity=0)
    await trio.sleep(50)
    rig.over()
    await trio.sleep(100)
    assert rig.names() == [["ann", "bob"], ["ann", "bob"]], "no house bot: their patience began when they had room"
    assert rig.times()[1] == 50 + PATIENCE, "cleo might have come"


async def test_what_the_ladder_has_to_gain_decides(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    rig.matchmaker.close(rig.start + 1)
    names = [f"bot-{number}" for number in range(30)]
    bots = [rig.come(name, capacity=3) for name in names]
    newcomer = rig.come("newcomer", capacity=3)
    ratings = {bot.bot_id: Rating(1400 + 5 * bot.bot_id, 15) for bot in bots}
    rig.matchmaker.rated(GAME.name, match_values(ratings))
    await trio.sleep(2)
    assert all("newcomer" in names for names in rig.names()[:3])
    assert newcomer.offers.pending == {GAME.name: 3}
    rig.matchmaker.rated(GAME.name, match_values(ratings | {newcomer.bot_id: NEW}))
    assert newcomer.offers.pending == {GAME.name: 3}, "it is still playing them"
    for number, (_, table) in enumerate(list(rig.drivers)):
        if newcomer in table.players:
            rig.over(number)
    rig.matchmaker.rated(GAME.name, match_values(ratings | {newcomer.bot_id: Rating(1500, 90)}))
    assert newcomer.offers.pending == {GAME.name: 0}


@pytest.mark.thorough
async def test_a_change_costs_the_same_however_many_wait(nursery: trio.Nursery) -> None:
    """Bots of one owner without house bots never get a table, regardless of other bots that come and go."""
    rig = Rig(nursery)
    costs: list[float] = []
    for number in range(2000):
        bot_player = rig.come(f"ann-{number}", "ann")
        if number % 1900 < 100:
            began = thread_time()
            rig.go(bot_player)
            rig.matchmaker.send()
            costs.append(thread_time() - began)
    assert min(costs[100:]) < 4 * min(costs[:100]), "beside 1,800 as beside none"
    rig.come("bob")
    await wait_all_tasks_blocked()
    assert [names[1] for names in rig.names()] == ["bob"]


async def test_a_seat_that_is_free_again_goes_to_nobody_much_slower_and_to_nobody_who_may_not_wait(
    nursery: trio.Nursery,
) -> None:
    rig = Rig(nursery)
    slow, ann, bob = rig.come("slow", pace=0.9), rig.come("ann"), rig.come("bob")
    slow.offers.waiting_since[GAME.name] -= 1.0
    queue = rig.matchmaker._queues[GAME.name]
    owed = OwedTime(3)
    owed.decisions = [10, 10, 10]
    queue.played(owed)

    def called(*there: BotPlayer) -> Player | None:
        limits = NO_LIMITS
        ready_check = ReadyCheck(ladder(), there, bytes(32), math.inf, limits, lambda _: None)
        return rig.matchmaker.replacement(ready_check, False)

    assert called(ann) is bob, "the slow one has waited longer"
    assert called(slow) is None, "nobody of its like is here"
    assert called(slow, ann) is None, "bob has no balance"
    assert queue.longest_waiting([]) is slow
    bob.offers.pace.pay(-40.0)
    assert called(slow, ann) is bob
    assert bob.offers.pace.balance == pytest.approx(20 - 10 * 0.9), "it pays at once"


TODAY = 20_000


class Quotas(Rig):
    """A matchmaker on a server with pair quotas, on a day that the test sets."""

    def __init__(self, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
        self.day = TODAY
        monkeypatch.setattr("arena.server.matchmaking.queue.now_us", lambda: self.day * DAY)
        super().__init__(nursery, pair_quota=9, **changes)

    async def spend(self) -> tuple[BotPlayer, BotPlayer]:
        """Connect two bots and use up their quota in a match. Matches count again on the next day."""
        ann, bob = self.come("ann"), self.come("bob")
        await wait_all_tasks_blocked()
        again = [((1, TODAY + 1),), ((0, TODAY + 1),)]
        self.matchmaker.close(math.inf)
        self.over(changes=[RatingChange(NEW, NEW, (), each) for each in again])
        self.drivers.clear()
        return ann, bob

    def come_again(self, bot_player: BotPlayer) -> BotPlayer:
        """Reconnect a bot, so that the matchmaker forgets its earlier opponents."""
        self.go(bot_player)
        found = self.players.enter(bot_player.bot_id, bot_player.name, bot_player.owner)
        assert found is not bot_player
        found.connected(trio.current_time(), Session(Line(), CODEC, Hello((GAME.name,), 1, ""), turns()))
        self.players.changed(found)
        return found


@pytest.mark.parametrize("who", ["both", "one"])
@pytest.mark.parametrize("day", [TODAY, TODAY + 1])
async def test_a_pair_that_has_spent_its_quota_is_seated_with_others_until_it_counts_again(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, day: int, who: str
) -> None:
    """A bot that stayed connected remembers the other bot when it returns."""
    met = 0
    for _ in range(80):
        rig = Quotas(nursery, monkeypatch)
        ann, bob = await rig.spend()
        if who == "both":
            rig.come_again(ann)
        rig.come("cleo")
        rig.come("dora")
        rig.day = day
        rig.come_again(bob)
        rig.matchmaker._open_from = 0.0
        rig.come("emil", capacity=0)
        await trio.sleep(PATIENCE)
        assert len(rig.drivers) == 2
        met += rig.names()[0] == ["ann", "bob"]
    assert (met == 0) is (day == TODAY), "a sixth of the time by chance"


async def test_a_pair_that_has_spent_its_quota_meets_where_nobody_else_waits(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Quotas(nursery, monkeypatch)
    await rig.spend()
    rig.matchmaker._open_from = 0.0
    rig.come("emil", capacity=0)
    await trio.sleep(PATIENCE)
    assert rig.names() == [["ann", "bob"]]


async def test_a_seat_that_is_free_again_goes_to_one_with_whom_no_quota_is_spent(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Quotas(nursery, monkeypatch)
    ann, bob = await rig.spend()
    bob.offers.waiting_since[GAME.name] -= 1.0
    queue = rig.matchmaker._queues[GAME.name]
    assert queue.longest_waiting([ann]) is bob, "nobody else is here"
    cleo = rig.come("cleo")
    assert queue.longest_waiting([ann]) is cleo, "bob has waited longer"
    assert queue.longest_waiting([]) is bob
    rig.day += 1
    assert queue.longest_waiting([ann]) is bob


async def test_a_match_of_another_node_counts_as_a_meeting_on_its_ladder(nursery: trio.Nursery) -> None:
    rig = Rig(nursery)
    rig.matchmaker.close()
    ann, bob, _ = (rig.come(name) for name in ("ann", "bob", "cleo"))
    stranger = 77
    rig.matchmaker.met(GAME.name, [ann.bot_id, bob.bot_id, stranger])
    rig.matchmaker.met("a ladder of others", [ann.bot_id, stranger])
    [one, other] = (rig.matchmaker._queues[GAME.name].pool._candidates[each] for each in (ann, bob))
    assert one.meetings(other.number) == other.meetings(one.number) == 1


@pytest.mark.parametrize("quota", [9, 0])
async def test_with_quotas_a_bot_at_many_tables_waits_while_others_wait(nursery: trio.Nursery, quota: int) -> None:
    rig = Rig(nursery, house_players("house-a", "house-b"), pair_quota=quota)
    much = rig.come("much", capacity=30)
    rig.come("more", capacity=30)
    for number in range(20):
        rig.come(f"busy-{number}", capacity=0)
    await trio.sleep(100)
    assert much.busy == 30
    rig.matchmaker.close(math.inf)
    before = len(rig.drivers)
    for number in range(9):
        rig.over(number)
    for number in range(20):
        rig.come(f"honest-{number}")
    rig.matchmaker._open_from = 0.0
    rig.come("late", capacity=0)
    await wait_all_tasks_blocked()
    at_once = rig.names()[before:]
    assert len(at_once) >= 10
    assert any({"much", "more"} & {*names} for names in at_once) is (quota == 0)


SLOW = LadderTable(GAME, (2,), name="slow", policy={"soft_limit": 120_000_000}, patience=50.0)
CLOSED = LadderTable(GAME, (2,), name="closed", house=False)


async def test_three_ladders_of_a_game_do_not_touch_each_other(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, house_players("house-a"), (LadderTable(GAME, (2,)), SLOW, CLOSED))
    ann, bob = rig.come("ann"), rig.come("bob", ladders=("slow",))
    cleo, dora = rig.come("cleo", ladders=("closed",)), rig.come("dora", "cleo", ladders=("closed",))
    for name in (GAME.name, "slow"):
        rig.come(f"might-come-{name}", capacity=0, ladders=(name,))
    await trio.sleep(100)
    assert rig.names() == [["ann", "house-a"], ["bob", "house-a"]], "on closed there are no house bots"
    assert rig.times() == [PATIENCE, 50]
    eve = rig.come("eve", ladders=("closed",))
    await trio.sleep(100)
    tables = [table for _, table in rig.drivers]
    assert eve in tables[2].players
    assert [table.ladder.name for table in tables] == [GAME.name, "slow", "closed"]
    assert [table.ladder.policy.soft_limit for table in tables] == [1_000_000, 120_000_000, 1_000_000]
    assert (ann.offers.pending, bob.offers.pending) == ({GAME.name: 1}, {"slow": 1})
    assert rig.matchmaker.waiting == {GAME.name: 0, "slow": 0, "closed": 1}

    usual, slow, closed = (rig.matchmaker._queues[name] for name in (GAME.name, "slow", "closed"))
    rig.matchmaker.rated("slow", match_values({bob.bot_id: NEW}))
    assert usual.match_values is not slow.match_values is not closed.match_values
    assert (ann.offers.pending, bob.offers.pending) == ({GAME.name: 1, "slow": 1}, {"slow": 1})
    rig.matchmaker.spent("closed", cleo.bot_id, eve.bot_id, 10**6)
    assert [len(queue.spent.of(eve.bot_id, 1)) for queue in (usual, slow, closed)] == [0, 0, 1]
    rig.over(1)
    assert [len(queue._decisions) for queue in (usual, slow, closed)] == [0, 1, 0]
    assert GAME.name not in bob.offers.waiting_since
    assert dora.busy + cleo.busy == 1


def test_the_clock_of_a_ladder_makes_it_patient_and_its_own_settings_win() -> None:
    tables = (LadderTable(GAME, (2,)), SLOW, replace(SLOW, name="slower", patience=None))
    usual, slow, slower = replace(config(), ladder_tables=tables).ladders
    assert (usual.patience, usual.patience_grows) == (2.0, False)
    assert (slow.patience, slow.patience_grows) == (50.0, False)
    assert (slower.patience, slower.patience_grows) == (240.0, True)
    assert usual.answer_limits == (30.0, 2.0, 3.0)
    assert slow.answer_limits == slower.answer_limits == (149.0, 121.0, 122.0)
    assert (usual.matches_per_hour, slow.matches_per_hour) == (0, 0)
    assert slow.policy == replace(POLICY, soft_limit=120_000_000), "the rest of the policy is the server's"


def test_a_ladder_has_its_own_settings_and_else_those_of_the_server() -> None:
    own = LadderTable(
        GAME, (2,), name="own", slow_pace=7.0, slow_percent=50, ready_limit=60.0, seat_limit=9.0, matches_per_hour=12
    )
    given = replace(config(), ladder_tables=(LadderTable(GAME, (2,)), own), offer_limit=4.0, matches_per_hour=6)
    usual, changed = given.ladders
    assert usual.answer_limits == (30.0, 4.0, 3.0)
    assert changed.answer_limits == (60.0, 4.0, 9.0)
    assert (usual.matches_per_hour, changed.matches_per_hour) == (6, 12)
    assert (usual.pace_rules.quick, usual.pace_rules.share) == (0.05, 0.15)
    assert (changed.pace_rules.quick, changed.pace_rules.share) == (7.0, 0.5)


async def test_turns_are_those_of_the_ladder(nursery: trio.Nursery) -> None:
    ladders = (LadderTable(GAME, (2,)), LadderTable(GAME, (2,), name="hourly", matches_per_hour=60))
    rig = Rig(nursery, ladders=ladders)
    rig.come("ann", capacity=3)
    rig.come("bob", capacity=3)
    rig.come("cleo", capacity=3, ladders=("hourly",))
    rig.come("dora", capacity=3, ladders=("hourly",))
    await trio.sleep(70)
    assert [table.ladder.name for _, table in rig.drivers].count("hourly") == 2, "at once, and a minute later"
    assert rig.names().count(["ann", "bob"]) == 3


def test_a_bot_plays_the_games_of_the_ladders_that_it_names() -> None:
    ladders, wanted = {GAME.name: GAME.name, "slow": GAME.name, "whist": "whist"}, Hello(("whist", GAME.name), 1, "")
    for named, games in (((), wanted.games), (("slow",), (GAME.name,)), (("slow", "whist"), wanted.games)):
        assert on_its_ladders(wanted._replace(ladders=named), ladders).games == games
    text = f"no ladder 'fast' for the bot's games; it has whist, {GAME.name}, slow"
    with pytest.raises(Closed, match=text):
        on_its_ladders(wanted._replace(ladders=("slow", "fast")), ladders)
