"""Pair quotas: the weights of two guests' matches depend only on the set of results, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

from arena.ladder.columns import SHARE, Columns, pair_number
from arena.ladder.events import FIRST_MONDAY, Entrant, Event, Guest, MatchResult, Node, Void, week_of
from arena.ladder.fitted import FittedLadder, ladder
from arena.ladder.ladder import NO_QUOTA, Quota
from arena.ladder.live import NEW, update
from arena.ladder.pair_quota import PairQuota, under_quota
from arena.ladder.pairs import UNIT, Entrants, Pairs
from tests.ladder.conftest import Season

HOUSE = (Node(0), Node(1))
GUESTS = {Node(node): Guest(node if node != 9 else 8, f"o{node}") for node in range(2, 10)}
"""Nodes 8 and 9 are versions of one bot."""
MONDAY = 18_000 - (18_000 - FIRST_MONDAY) % 7
ENTRANTS = [Entrant(Node(node), Node(8) if node == 9 else None, node in HOUSE, node != 8) for node in range(10)]


def duels(count: int, day: int, first: int = 1, nodes: tuple[int, int] = (2, 3)) -> list[MatchResult]:
    both = (Node(nodes[0]), Node(nodes[1]))
    return [MatchResult(first + number, first + number, both, (1, 2), (True, True), (), day) for number in range(count)]


def weighed(results: list[MatchResult], day: int, week: int = 0) -> Columns:
    return under_quota(Columns.of_results(results), PairQuota(Quota(day, week), GUESTS))


def weight(results: list[MatchResult], day: int, node: int = 2, other: int = 3, week: int = 0) -> float:
    """Return the total weight of the matches between two versions at tables of two."""
    pairs = Pairs.of(weighed(results, day, week), Entrants(ENTRANTS))
    return float(pairs.played.toarray()[node, other]) / UNIT


@pytest.mark.parametrize(("count", "together"), [(1, 1), (39, 39), (40, 40), (41, 40), (400, 40)])
def test_a_pair_counts_so_many_matches_of_a_day_at_most(count: int, together: int) -> None:
    assert weight(duels(count, 7), 40) == pytest.approx(together, rel=1e-4)


def test_every_day_has_a_quota_of_its_own() -> None:
    assert weight(duels(60, 7) + duels(60, 8, 61), 40) == pytest.approx(80, rel=1e-4)


def nights(*counts: int, first_day: int = MONDAY) -> list[MatchResult]:
    """Return a number of matches between a pair of bots on each of several successive days."""
    starts = np.cumsum((1, *counts)).tolist()
    return [each for day, count in enumerate(counts) for each in duels(count, first_day + day, starts[day])]


@pytest.mark.parametrize(
    ("counts", "together"),
    [
        ((60, 60), 80),
        ((60, 60, 60), 100),
        ((60,) * 7, 100),
        ((300, 10, 10, 10, 10, 10, 10), 100),
        ((20, 20, 20, 20, 20), 100),
        ((20, 20, 20, 20, 19), 99),
        ((60, 0, 0, 0, 0, 0, 60), 80),
    ],
)
def test_the_days_of_a_week_count_as_its_quota_together_at_most(counts: tuple[int, ...], together: int) -> None:
    assert weight(nights(*counts), 40, week=100) == pytest.approx(together, rel=1e-4)


def test_a_week_begins_on_monday_and_every_week_has_a_quota_of_its_own() -> None:
    assert week_of(MONDAY + 6) == week_of(MONDAY) == range(MONDAY, MONDAY + 7)
    assert (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=MONDAY)).weekday() == 0
    assert weight(nights(60, 60, 60, first_day=MONDAY - 1), 40, week=80) == pytest.approx(120, rel=1e-4)
    assert weight(nights(60, 60, 60, 60, first_day=MONDAY - 1), 40, week=80) == pytest.approx(120, rel=1e-4)
    assert weight(nights(*(40,) * 14), 0, week=100) == pytest.approx(200, rel=1e-4)


def test_days_of_a_week_share_its_quota_by_what_counts_of_each() -> None:
    shares = weighed(nights(80, 20, 60), 40, 50).shares
    assert shares is not None
    of_a_day = [SHARE * 40 / 80 * 50 / 100, SHARE * 50 / 100, SHARE * 40 / 60 * 50 / 100]
    assert shares[[0, 80, 100], 0].tolist() == [round(each) for each in of_a_day]
    assert (shares[80:100, 0] == shares[80, 0]).all()
    assert weighed(nights(80, 20, 60)[30:90], 40, 50).shares is not None
    assert weighed(nights(80, 20, 60)[50:90], 40, 50).shares is None, "what is void gives its weight back"


def test_all_matches_of_a_day_weigh_the_same_and_a_void_one_gives_its_weight_back() -> None:
    shares = weighed(duels(60, 7), 40).shares
    assert shares is not None
    assert set(shares[:, pair_number(0, 1)].tolist()) == {round(SHARE * 40 / 60)}
    assert (np.delete(shares, pair_number(0, 1), axis=1) == SHARE).all()
    assert weight(duels(60, 7)[5:], 40) == pytest.approx(40, rel=1e-4)
    assert weighed(duels(60, 7)[20:], 40).shares is None


def test_the_house_has_no_quota_and_versions_of_a_bot_share_one() -> None:
    assert weight(duels(90, 7, nodes=(0, 2)), 40, 0, 2) == 90
    assert weight(duels(90, 7, nodes=(0, 1)), 40, 0, 1) == 90
    both = duels(60, 7, nodes=(2, 8)) + duels(60, 7, 61, nodes=(9, 2))
    assert weight(both, 40, 2, 8) == weight(both, 40, 2, 9) == pytest.approx(20, rel=1e-4)


def test_at_a_larger_table_each_pair_has_its_own_weight(season: Season) -> None:
    table = (Node(2), Node(3), Node(0), Node(4))
    results = duels(10, 7) + [
        MatchResult(number, number, table, (1, 2, 3, 4), (True,) * 4, (), 7) for number in range(11, 21)
    ]
    shares = weighed(results, 10).shares
    assert shares is not None
    of_table = shares[10]
    assert of_table[pair_number(0, 1)] == SHARE // 2
    assert of_table[pair_number(0, 3)] == of_table[pair_number(0, 2)] == SHARE


def test_numbers_of_pairs_are_a_row() -> None:
    numbers = [pair_number(one, other) for one in range(7) for other in range(one + 1, 7)]
    assert numbers == [*range(21)]
    assert pair_number(5, 2) == pair_number(2, 5)


def numbered(*parts: list[MatchResult]) -> list[MatchResult]:
    results = [each for part in parts for each in part]
    return [each._replace(number=number, match_id=number) for number, each in enumerate(results, 1)]


def aged(*bots: int, day: int = MONDAY - 14) -> list[MatchResult]:
    """Return one result of each given bot against the house. A bot's age counts from its result."""
    return [each for bot in bots for each in duels(1, day, nodes=(0, bot))]


def weighs_for(results: list[MatchResult], rule: Quota, node: int, others: Sequence[int]) -> float:
    """Return the total weight of a version's matches against others at tables of two."""
    pairs = Pairs.of(under_quota(Columns.of_results(results), PairQuota(rule, GUESTS)), Entrants(ENTRANTS))
    both = (pairs.played + pairs.played.T).toarray()[node, others] / UNIT
    return float((both + pairs.played_alone.toarray()[node, others] / UNIT).sum())


YOUNG = [4, 5, 6]
RULE = Quota(40, 80, 7)


def test_for_an_older_bot_all_young_ones_are_one_and_each_of_them_keeps_what_it_played() -> None:
    """The result is the same if the older bot has the first seat in one match and the second seat in another."""
    parts = [duels(10, MONDAY + 1, nodes=each) for young in YOUNG for each in ((2, young), (young, 2))]
    results = numbered(aged(2, 3), duels(70, MONDAY, nodes=(0, 2)), *parts)
    assert weighs_for(results, RULE, 2, YOUNG) == pytest.approx(40, rel=1e-4)
    for young in YOUNG:
        assert weighs_for(results, RULE, 2, [young]) == pytest.approx(40 / 3, rel=1e-4)
        assert weighs_for(results, RULE, young, [2]) == 20
    assert weighs_for(results, Quota(40, 80), 2, YOUNG) == 60
    assert weighs_for(results, RULE, 2, [0]) == 71, "the house has no quota"
    assert weighs_for(results[:-20], RULE, 2, YOUNG) == 40, "what is void gives its weight back"


def test_young_ones_have_one_quota_of_a_week_too() -> None:
    days = [duels(13, MONDAY + day, nodes=(2, young)) for day in range(5) for young in YOUNG]
    results = numbered(aged(2, 3), duels(300, MONDAY, nodes=(0, 2)), *days)
    assert weighs_for(results, RULE, 2, YOUNG) == pytest.approx(80, rel=1e-4)
    assert weighs_for(results, Quota(40, 0, 7), 2, YOUNG) == pytest.approx(5 * 39, rel=1e-4)
    assert weighs_for(results, RULE, 4, [2]) == 65


def test_bots_are_young_for_so_many_days_from_the_first_result_of_any_version() -> None:
    for first, together in ((MONDAY - 5, 60), (MONDAY - 4, 40), (MONDAY + 2, 40)):
        parts = [duels(20, MONDAY + 2, nodes=(2, young)) for young in (5, 6, 9)]
        results = numbered(aged(2), aged(5, 6, 8, day=first), duels(70, MONDAY, nodes=(0, 2)), *parts)
        assert weighs_for(results, RULE, 2, [5, 6, 9]) == pytest.approx(together, rel=1e-4)


@pytest.mark.parametrize(("house", "older", "bound"), [(61, 0, True), (60, 0, False), (40, 21, True), (0, 60, False)])
def test_who_meets_mostly_young_ones_counts_them_as_any_others(house: int, older: int, bound: bool) -> None:
    """If young bots always counted as one, a new server, or a class on its first day, would rate no bot."""
    parts = [duels(20, MONDAY + 1, nodes=(2, young)) for young in YOUNG]
    week = (duels(house, MONDAY, nodes=(0, 2)), duels(older, MONDAY + 6, nodes=(2, 3)))
    results = numbered(aged(2, 3), *week, *parts)
    assert weighs_for(results, Quota(40, 0, 7), 2, YOUNG) == pytest.approx(40 if bound else 60, rel=1e-4)
    late = duels(100, MONDAY + 7, nodes=(0, 2))
    assert weighs_for(numbered(results, late), Quota(40, 0, 7), 2, YOUNG) == pytest.approx(
        40 if bound else 60, rel=1e-4
    ), "the next week is another"


def test_among_young_ones_and_among_older_ones_nothing_is_counted_together() -> None:
    parts = [duels(20, MONDAY + 1, nodes=(2, other)) for other in YOUNG]
    week = duels(70, MONDAY, nodes=(0, 2))
    for older in ((2, *YOUNG), YOUNG, ()):
        assert weighs_for(numbered(aged(*older), week, *parts), RULE, 2, YOUNG) == 60


def test_a_young_bot_moves_by_all_that_it_played_and_an_older_one_by_what_counts() -> None:
    """The young bots lose all matches to the older bot, whose results against the house keep it at 1500."""
    parts = [duels(30, MONDAY + 1, nodes=(2, young)) for young in YOUNG]
    house = [each._replace(places=(2, 1)) if each.number % 2 else each for each in duels(200, MONDAY, nodes=(0, 2))]
    fair = [
        each._replace(places=(2, 1)) if each.number % 2 else each
        for young in YOUNG
        for each in duels(30, MONDAY, nodes=(1, young))
    ]
    columns = Columns.of_results(numbered(aged(2, 3), house, fair, *parts))
    entrants = [Entrant(Node(node), anchor=node in HOUSE) for node in range(7)]
    free, bound = (ladder(entrants, columns, PairQuota(rule, GUESTS)) for rule in (Quota(40), Quota(40, 0, 7)))
    gained = free.figures[2].rating - bound.figures[2].rating
    assert gained > 25
    for young in YOUNG:
        assert free.figures[young].rating - bound.figures[young].rating == pytest.approx(0, abs=gained)
        assert bound.figures[young].rating < 1450
        assert bound.figures[young].error == pytest.approx(free.figures[young].error, rel=0.15)


def growing(season: Season, seed: int, count: int = 400) -> list[MatchResult]:
    """Return results among seven bots, and among ten from the third day on."""
    early, late = season(seed, range(7), count // 2, (2, 4)), season(seed + 1, range(10), count // 2, (2, 4))
    return [each._replace(day=each.number // 60) for each in numbered(early, late)]


def dated(results: list[MatchResult]) -> list[MatchResult]:
    return [each._replace(day=each.number // 60) for each in results]


def test_ratings_under_a_quota_do_not_depend_on_the_order(season: Season) -> None:
    results = dated(season(5, range(10), 400, (2, 4)))
    quota, made = PairQuota(Quota(3, 8), GUESTS), set()
    for seed in range(5):
        shuffled = Random(seed).sample(results, len(results))
        made.add(ladder(ENTRANTS, Columns.of_results(shuffled), quota).digest)
    assert len(made) == 1
    assert made != {ladder(ENTRANTS, Columns.of_results(results)).digest}
    assert made != {ladder(ENTRANTS, Columns.of_results(results), PairQuota(Quota(3, 9), GUESTS)).digest}


def test_ratings_with_young_bots_do_not_depend_on_the_order(season: Season) -> None:
    results, made = growing(season, 5), set()
    for seed in range(5):
        columns = Columns.of_results(Random(seed).sample(results, len(results)))
        made.add(ladder(ENTRANTS, columns, PairQuota(Quota(3, 8, 2), GUESTS)).digest)
    assert len(made) == 1
    others = [Quota(3, 8), Quota(3, 8, 1), Quota(3, 8, 9)]
    columns = Columns.of_results(results)
    digests = {ladder(ENTRANTS, columns, PairQuota(rule, GUESTS)).digest for rule in others}
    assert len(digests | made) == 4
    shares = [under_quota(columns, PairQuota(rule, GUESTS)).later_shares is None for rule in (*others, Quota(3, 8, 2))]
    assert shares == [True, False, True, False], "with nine days all are young"


def test_a_ladder_of_the_rule_of_days_alone_is_what_it_was_before_there_were_weeks(season: Season) -> None:
    columns = Columns.of_results(dated(season(5, range(10), 400, (2, 4))))
    made = ladder(ENTRANTS, columns, PairQuota(Quota(3), GUESTS))
    assert made.digest == "65ba14b7f1c33d543467237afec66588bd943ca6f05dab188e6015bfb764c032"


@pytest.mark.parametrize("young_days", [0, 2])
def test_a_ladder_kept_up_is_the_same_as_one_made_at_once(season: Season, young_days: int) -> None:
    """Both ladders are also equal if a day's weights change with each match, and if a bot's first match is annulled."""
    results = growing(season, 6, 300)
    quota, kept = PairQuota(Quota(3, 8, young_days), GUESTS), FittedLadder()
    first = next(at for at, each in enumerate(results) if 9 in each.nodes)
    voided = Void(301, results[first].match_id, "a test")
    events: list[Event] = [*results, voided]
    for event in events:
        kept.take(event)
        if event.number % 75 == 0 or event is voided:
            standing = [each for each in results[: event.number] if event is not voided or each is not results[first]]
            columns = replace(Columns.of_results(standing), through=event.number)
            assert kept.ladder(ENTRANTS, quota) == ladder(ENTRANTS, columns, quota)
    assert kept.ladder(ENTRANTS) == ladder(ENTRANTS, replace(columns, through=301)), "and without a quota"


def test_a_quota_that_nobody_reaches_changes_the_digest_and_no_rating(season: Season) -> None:
    columns = Columns.of_results(dated(season(7, range(10), 100)))
    free, bound = ladder(ENTRANTS, columns), ladder(ENTRANTS, columns, PairQuota(Quota(10_000), GUESTS))
    assert (bound.lines, bound.figures, bound.field) == (free.lines, free.figures, free.field)
    assert (free.quota, bound.quota) == (NO_QUOTA, Quota(10_000))
    assert bound.digest != free.digest


def test_where_all_results_count_less_alike_the_errors_are_still_those_of_the_results(season: Season) -> None:
    """Errors follow from the variance of the results, not from their weights."""
    columns = Columns.of_results([each._replace(day=7) for each in season(8, range(2, 8), 600)])
    free, bound = ladder(ENTRANTS, columns), ladder(ENTRANTS, columns, PairQuota(Quota(30), GUESTS))
    for one, other in zip(free.figures, bound.figures, strict=True):
        if one.matches:
            assert other.matches == one.matches
            assert 0.9 * one.error < other.error < 1.2 * one.error


def test_a_pair_of_seats_beyond_its_quota_moves_neither() -> None:
    ratings, places = [NEW] * 3, [1, 2, 3]
    after = update(ratings, places, beyond_quota=[(0, 1)])
    assert after[0] == update([NEW] * 3, places, spoilt=[False, True, False])[0]
    assert after[2] == update(ratings, places)[2]
    assert update(ratings, places, beyond_quota=[(0, 1), (0, 2), (1, 2)]) == tuple(ratings)
