"""Pair quotas in the store: live ratings after each match, and a fit that is the same bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, select, text, update

from arena.ladder import live
from arena.ladder.events import DAY, MatchResult, day_of, week_of
from arena.ladder.ladder import Quota
from arena.ladder.live import RatingChange
from arena.store import schema
from arena.store.bots import bots
from arena.store.ladder import events, pair_days
from arena.store.ladder.fits import Fits, recomputed
from arena.store.ladder.publishing import as_published, publish, quota
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.ladder.standings import current, standings
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from arena.store.store import open_store
from tests.store.jobs import GAME, NOW, add_bots, begin, replay
from tests.store.recorded import fill, oldest_database

TABLES = ("bots", "names", "versions", "matches", "match_seats", "ratings", "rated_results", "ladders", "standings")
"""Tables to which columns were added later, and the number of their columns."""


def play(
    connection: Connection,
    players: list[bots.BotId],
    quota: int = 2,
    at: int = NOW,
    places: list[int] | None = None,
    week: int = 0,
) -> tuple[int, tuple[RatingChange, ...]]:
    match = begin(connection, players)
    order = places or list(range(1, len(players) + 1))
    changes = matches.finish(
        connection,
        match,
        scores=[10 - place for place in order],
        places=order,
        forced=[0] * len(order),
        counts=[True] * len(order),
        at=at,
        replay=replay,
        quota=Quota(quota, week),
    )
    return match, changes


def moved(changes: tuple[RatingChange, ...]) -> list[bool]:
    return [each.before != each.after for each in changes]


def test_beyond_the_quota_a_match_moves_neither_by_the_other(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob, cleo = add_bots(connection, "ann", "bob", "cleo")
        for _ in range(2):
            assert moved(play(connection, [ann, bob])[1]) == [True, True]
        _, third = play(connection, [ann, bob])
        assert moved(third) == [False, False]
        assert [each.beyond_quota for each in third] == [(1,), (0,)]
        _, table = play(connection, [cleo, ann, bob])
        assert [each.beyond_quota for each in table] == [(), (2,), (1,)]
        assert moved(table) == [True, True, True], "each by Cleo"
        before = [each.before for each in table]
        after = live.update(before, [1, 2, 3], beyond_quota=[(1, 2)])
        assert tuple(each.after for each in table) == after != live.update(before, [1, 2, 3])
        assert moved(play(connection, [ann, bob], at=NOW + DAY)[1]) == [True, True], "the next day"
        [row] = [row for row in standings(connection, GAME) if row.bot == "ann"]
        assert row.matches == 5, "matches count as such all the same"


def test_beyond_the_quota_of_a_week_a_match_moves_neither_by_the_other(data: Path) -> None:
    monday = week_of(day_of(NOW)).start * DAY
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        counted = [
            [all(moved(play(connection, players, 2, monday + day * DAY, week=3)[1])) for _ in range(3)]
            for day in (0, 2, 6, 7)
        ]
    assert counted == [[True, True, False], [True, False, False], [False] * 3, [True, True, False]]


def test_a_result_says_which_pairs_have_spent_their_quota_and_when_they_count_again(data: Path) -> None:
    monday = week_of(day_of(NOW)).start
    with open_to_amend(data) as connection:
        ann, bob, cleo = add_bots(connection, "ann", "bob", "cleo")

        def again(table: list[bots.BotId], day: int) -> list[tuple[tuple[int, int], ...]]:
            return [each.counts_again for each in play(connection, table, 2, (monday + day) * DAY, week=3)[1]]

        def of_a_day(day: int) -> list[tuple[int, int, int]]:
            return pair_days.spent(connection, GAME, monday + day, Quota(2, 3))

        assert again([ann, bob], 0) == [(), ()]
        assert again([cleo, ann, bob], 0) == [(), ((2, monday + 1),), ((1, monday + 1),)]
        assert of_a_day(0) == [(ann, bob, monday + 1)]
        assert of_a_day(1) == []
        assert again([bob, ann], 4) == [((1, monday + 7),), ((0, monday + 7),)], "three in the week"
        assert of_a_day(4) == of_a_day(6) == [(ann, bob, monday + 7)]
        assert of_a_day(7) == []


def test_results_since_the_fit_move_live_ratings_as_they_did_under_the_quota_of_a_week(data: Path) -> None:
    """The fit is from the middle of a week, and the later results are from two different days."""
    monday, rule = week_of(day_of(NOW)).start * DAY, Quota(2, 3)
    with open_to_amend(data) as connection:
        ann, bob, cleo = add_bots(connection, "ann", "bob", "cleo")
        for day in range(2):
            play(connection, [ann, bob], 2, monday + day * DAY, week=3)
        publish(connection, GAME, Fits(rule).ladder(connection, GAME), monday + 2 * DAY)
        tables = [[ann, bob], [ann, cleo], [ann, bob], [bob, cleo], [ann, bob]]
        days = [2, 2, 2, 3, 3]
        still = [
            not any(moved(play(connection, table, 2, monday + day * DAY, week=3)[1]))
            for table, day in zip(tables, days, strict=True)
        ]
        assert still == [False, False, True, False, True]
        expected = {row.bot: (row.live, row.live_deviation) for row in standings(connection, GAME)}
        ladder = as_published(connection, GAME)
        assert ladder is not None
        publish(connection, GAME, ladder, monday + 4 * DAY)
        assert {row.bot: (row.live, row.live_deviation) for row in standings(connection, GAME)} == expected
        publish(connection, GAME, ladder, monday + 7 * DAY)
        assert len(connection.execute(select(schema.pair_days)).all()) == 6, "on Monday the week before is still there"
        publish(connection, GAME, ladder, monday + 8 * DAY)
        assert connection.execute(select(schema.pair_days)).all() == [], "weeks long past are forgotten"


async def test_a_ladder_of_before_there_were_weeks_is_verified_and_rebuilt_by_its_own_rule(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        for number in range(9):
            play(connection, [ann, bob], 3, NOW + number % 3 * DAY)
        made = Fits(Quota(3)).ladder(connection, GAME)
        publish(connection, GAME, made, NOW + 3 * DAY)
        rows = {name: [tuple(row) for row in connection.execute(text(f"SELECT * FROM {name}"))] for name in TABLES}
    old = data.parent / "old"
    with oldest_database(old) as database:
        fill(database, rows)
    async with open_store(old, NOW):
        pass
    with open_to_amend(old) as connection:
        assert as_published(connection, GAME) == made
        assert made.quota == Quota(3, 0)
        assert verify(connection, GAME).identical
        assert rebuild(connection, GAME, NOW).identical
        assert as_published(connection, GAME) == made
        assert Fits(Quota(3, 7)).ladder(connection, GAME).digest != made.digest


def test_every_game_has_its_days_and_without_a_quota_nothing_is_counted(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        for _ in range(3):
            assert moved(play(connection, players, quota=0)[1]) == [True, True]
        assert connection.execute(select(schema.pair_days)).all() == []
        play(connection, players)
        [row] = connection.execute(select(schema.pair_days)).all()
        assert (row.ladder, row.day, row.matches) == (GAME, day_of(NOW), 1)


def test_the_house_has_no_quota(data: Path) -> None:
    with open_to_amend(data) as connection:
        (house,) = bots.ensure_house_bots(connection, ["house-careful"], NOW)
        (ann,) = add_bots(connection, "ann")
        for _ in range(5):
            assert moved(play(connection, [ann, house.id], quota=1)[1]) == [True, True]


def test_a_void_match_gives_its_place_back(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        first, _ = play(connection, players, quota=1)
        assert moved(play(connection, players, quota=1)[1]) == [False, False]
        matches.void(connection, first, "a test", NOW)
        matches.void(connection, first + 1, "a test", NOW)
        assert moved(play(connection, players, quota=1)[1]) == [True, True]


def test_a_fit_under_a_quota_is_published_with_it_and_verified_by_it(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob, cleo = add_bots(connection, "ann", "bob", "cleo")
        for number in range(30):
            play(connection, [ann, bob], at=NOW + number)
            play(connection, [ann, bob, cleo], places=[(2, 1, 3), (3, 2, 1), (1, 3, 2)][number % 3], at=NOW + number)  # type: ignore[arg-type]
        made = Fits(Quota(2)).ladder(connection, GAME)
        assert made.digest != Fits().ladder(connection, GAME).digest
        publish(connection, GAME, made, NOW)
        assert as_published(connection, GAME) == made == recomputed(connection, GAME, made.through, 0, Quota(2))
        assert (quota(connection, GAME), current(connection, GAME, GAME).pair_quota) == (Quota(2), 2)
        assert verify(connection, GAME).identical
        assert rebuild(connection, GAME, NOW).identical
        assert as_published(connection, GAME) == made
        connection.execute(update(schema.ladders).values(pair_quota=3))
        assert not verify(connection, GAME).identical, "another quota is another ladder"


def test_results_since_the_fit_move_live_ratings_as_they_did_one_by_one(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob", "cleo")
        ann, bob, cleo = players
        for number in range(8):
            play(
                connection,
                [[ann, bob], [bob, cleo], [cleo, ann]][number % 3],
                3,
                places=[1 + number % 2, 2 - number % 2],
            )
        publish(connection, GAME, Fits(Quota(3)).ladder(connection, GAME), NOW)
        one_by_one = []
        for number in range(6):
            one_by_one += [moved(play(connection, [ann, bob] if number % 2 else [bob, cleo], 3)[1])]
        assert [all(each) for each in one_by_one] == [False, False, False, False, False, False]
        play(connection, [ann, cleo], 3)
        expected = {row.bot: (row.live, row.live_deviation) for row in standings(connection, GAME)}
        ladder = as_published(connection, GAME)
        assert ladder is not None
        publish(connection, GAME, ladder, NOW)
        assert {row.bot: (row.live, row.live_deviation) for row in standings(connection, GAME)} == expected
        publish(connection, GAME, Fits(Quota(3)).ladder(connection, GAME), NOW + 8 * DAY)
        assert connection.execute(select(schema.pair_days)).all() == [], "days long past are forgotten"


def test_the_day_of_a_result_is_that_of_its_instant(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        for at in (DAY - 1, DAY, 2 * DAY - 1):
            play(connection, players, at=at)
        days = [event.day for event in events.read(connection, GAME) if isinstance(event, MatchResult)]
    assert days == [0, 1, 1]


@pytest.mark.parametrize("quota", [0, 2])
def test_a_ladder_of_tables_of_one_size_has_the_quota_too(data: Path, quota: int) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        for _ in range(5):
            play(connection, players)
        assert Fits(Quota(quota)).ladder(connection, GAME, seats=2).quota == Quota(quota)
