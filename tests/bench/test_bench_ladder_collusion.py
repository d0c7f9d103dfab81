"""The benchmark's colluders behave as described, and honest fields contain none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from arena.ladder.events import FIRST_MONDAY
from arena.ladder.ladder import NO_QUOTA, Quota
from bench.ladder.accomplices import NAME_MEETINGS, RING_MEETINGS, thrown_away, wide_ring
from bench.ladder.collusion import DAYS, NIGHT, Night, guests_of, night, nights, played
from bench.ladder.company import evening
from bench.ladder.quota import FIELDS, OWN_SHARE, RING, gains, half_changing, joined, ring, veterans_and_newcomers
from bench.ladder.world import ANCHORS, BOTS, NOBODY


def test_a_night_is_the_last_day_and_its_head_wins_every_table() -> None:
    world = night((1, 2))
    columns = world.columns
    late = slice(len(world.without), None)
    assert len(columns) - len(world.without) == NIGHT
    assert set(columns.nodes[late].ravel().tolist()) == {NOBODY, world.head, *world.accomplices}
    assert (columns.places[late][columns.nodes[late] == world.head] == 1).all()
    assert (np.sort(columns.places[late, :4]) == [1, 2, 3, 4]).all()
    days = columns.days - FIRST_MONDAY
    assert (days[late] == DAYS).all()
    assert set(days[: len(world.without)].tolist()) == set(range(DAYS))
    assert {guest.owner for guest in guests_of(world.entrants).values()} == {f"owner {n}" for n in range(ANCHORS, BOTS)}


def test_a_quota_bounds_a_night() -> None:
    found = gains(night((1, 3)), [NO_QUOTA, Quota(40), Quota(5)])
    assert found[0] > 90
    assert 0 < found[2] < found[1] < 45


def test_a_quota_of_a_week_bounds_a_week_of_nights() -> None:
    world = nights((1, 4), 60)
    late = slice(len(world.without), None)
    assert np.bincount(world.columns.days[late] - FIRST_MONDAY).tolist() == [60] * 7
    assert set((world.without.days - FIRST_MONDAY).tolist()) == set(range(7))
    found = gains(world, [NO_QUOTA, Quota(40), Quota(40, 100), Quota(40, 40)])
    assert found[0] > 80
    assert found[1] > 60, "a quota of a day alone holds a night only"
    assert 0 < found[3] < found[2] < 50


def test_names_that_are_thrown_away_gain_little_where_all_young_ones_are_one() -> None:
    found = gains(thrown_away((1, 6)), [Quota(40, 80), Quota(40, 80, 7)])
    assert found[0] > 50
    assert found[1] < 15


def test_the_head_of_a_ring_wins_where_it_meets_its_own() -> None:
    season, days = ring(np.random.default_rng(1), 50, OWN_SHARE)
    head = int(season.nodes[0, 0])
    own = season.nodes[:, 0] == head
    met = season.nodes[own, 1]
    bots, times = np.unique(met, return_counts=True)
    members = bots[np.argsort(-times)[: RING - 1]]
    assert (season.places[own][np.isin(met, members), 0] == 1).all()
    assert np.isin(met, members).mean() == pytest.approx(OWN_SHARE, abs=0.06)
    assert set(days.tolist()) == set(range(7))


@pytest.mark.parametrize(("make", "losses"), [(wide_ring, RING_MEETINGS), (thrown_away, NAME_MEETINGS)])
def test_many_accomplices_lose_to_the_head_a_little_each(make: Callable[[Sequence[int]], Night], losses: int) -> None:
    world = make((1, 5))
    week = range(FIRST_MONDAY + 7, FIRST_MONDAY + 14)
    assert set(world.columns.days.tolist()) == {FIRST_MONDAY, *week}
    assert (np.diff(world.columns.days) >= 0).all()
    met = dict.fromkeys(world.accomplices, 0)
    honest = {(*row,) for row in np.column_stack((world.without.nodes, world.without.places)).tolist()}
    rows = np.column_stack((world.columns.nodes, world.columns.places)).tolist()
    for row in rows:
        nodes, places = row[:4], row[7:11]
        assert sorted(places) == [1, 2, 3, 4]
        if (*row,) not in honest:
            assert places[nodes.index(world.head)] == 1
            for node in {*nodes} - {world.head}:
                met[node] += 1
    assert max(met.values()) <= losses
    assert sum(met.values()) > 0.9 * losses * len(met)
    assert met.keys().isdisjoint({world.head})


def test_room_for_many_tables_buys_a_ring_little_company_where_shares_are_bounded() -> None:
    free, bounded = evening(20, False, 1), evening(20, True, 1)
    assert free.mates > 1.5
    assert bounded.mates < 1.1
    assert bounded.ring < 0.5 * free.ring
    assert bounded.honest == pytest.approx(free.honest, rel=0.1), "it costs honest bots nothing"


@pytest.mark.parametrize("name", FIELDS)
def test_an_honest_field_is_whole(name: str) -> None:
    season, days = FIELDS[name](np.random.default_rng(2))
    assert len(days) == len(season.nodes) == len(season.places)
    assert (np.diff(days) >= 0).all()
    assert len(played(season.entrants, season.nodes)) == len({*np.unique(season.nodes).tolist()} - {NOBODY})


def test_newcomers_join_a_week_after_the_others() -> None:
    season, days = joined(np.random.default_rng(5), 14, 2)
    assert set(days.tolist()) == {0, *range(7, 14)}
    assert [season.nodes[days == day].max() for day in (0, 7, 8, 13)] == [BOTS - 1, BOTS + 1, BOTS + 3, BOTS + 13]


def test_half_the_guests_change_and_newcomers_come_after_the_veterans() -> None:
    season, _ = half_changing(np.random.default_rng(3))
    assert sum(each.parent is not None for each in season.entrants) == (BOTS - ANCHORS + 1) // 2
    season, days = veterans_and_newcomers(np.random.default_rng(4))
    assert season.nodes[days < DAYS].max() < ANCHORS + 6
    assert season.nodes[days >= DAYS].max() == len(season.entrants) - 1
