"""Evaluation of the ladder benchmark's measurements: targets, number of games needed, rival systems, errors, and
the chart.
"""

import json
import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arena.ladder.columns import Columns
from arena.ladder.fitted import ladder
from arena.ladder.live import expected
from bench.ladder.chart import draw
from bench.ladder.coverage import share
from bench.ladder.figures import Bar, Figure, Verdict, at_most
from bench.ladder.orders import constant_elo, live_only, plackett_luce
from bench.ladder.ranking import Curve, rank_correlation
from bench.ladder.rebuild import VOIDS, events_of, renumbered, shuffled
from bench.ladder.world import BOTS, Conditions, play


@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [
        (95.0, 0.5, Verdict.REACHED),
        (92.5, 0.5, Verdict.OPEN),
        (97.9, 0.5, Verdict.OPEN),
        (91.9, 0.5, Verdict.MISSED),
        (92.9, 0.0, Verdict.MISSED),
        (math.nan, 0.5, Verdict.MISSED),
    ],
)
def test_a_bar_is_missed_only_beyond_the_figures_own_error(value: float, error: float, verdict: Verdict) -> None:
    assert Bar(93, 97).verdict(value, error) is verdict


def test_a_figure_is_plain_json_even_where_it_is_never_reached() -> None:
    plain = Figure("games", math.inf, bar=at_most(560)).plain()
    assert json.loads(json.dumps(plain, allow_nan=False))["verdict"] == "missed"
    assert plain["value"] is None
    assert plain["bar"] == [None, 560]


def test_games_needed_lie_between_two_points_and_are_infinite_without() -> None:
    rising = Curve("", (100, 200, 400), np.array([[0.90, 0.93, 0.97], [0.90, 0.93, 0.97]]))
    games, error = rising.needed()
    assert 200 < games < 400
    assert error == pytest.approx(0)
    assert rising._replace(correlations=rising.correlations - 0.03).needed()[0] == math.inf
    assert rising._replace(correlations=rising.correlations + 0.06).needed() == (100, 0.0)


def test_games_needed_count_from_the_last_time_it_was_not_enough() -> None:
    dips = Curve("", (100, 200, 300, 400), np.array([[0.96, 0.94, 0.96, 0.97]]))
    assert 200 < dips.needed()[0] < 300


def test_rank_correlation_is_of_ranks() -> None:
    assert rank_correlation(np.array([1.0, 2.0, 300.0]), np.array([5.0, 6.0, 6.5])) == pytest.approx(1)
    assert rank_correlation(np.array([3.0, 2.0, 1.0]), np.array([5.0, 6.0, 6.5])) == pytest.approx(-1)


def test_constant_elo_is_the_formula_for_every_world_and_factor() -> None:
    seasons = [play(Conditions(ties=0.3), 12, np.random.default_rng(seed)) for seed in range(2)]
    nodes, places = (
        np.array([of[:, :4].reshape(12, BOTS // 4, 4) for of in kind])
        for kind in ([season.nodes for season in seasons], [season.places for season in seasons])
    )
    *_, found = constant_elo(nodes, places, BOTS, (8, 32))
    for world in range(2):
        for number, factor in enumerate((8, 32)):
            ratings = [0.0] * BOTS
            for tables, ranks in zip(nodes[world], places[world], strict=True):
                for who, place in zip(tables, ranks, strict=True):
                    before = [ratings[bot] for bot in who]
                    for i in range(4):
                        for j in set(range(4)) - {i}:
                            score = 1.0 if place[i] < place[j] else 0.5 if place[i] == place[j] else 0.0
                            ratings[who[i]] += factor / 3 * (score - expected(before[i], before[j]))
            assert found[world, number] == pytest.approx(ratings, abs=1e-9)


def test_every_rival_learns_who_is_better() -> None:
    season = play(Conditions(), 150, np.random.default_rng(3))
    nodes, places = (of[:, :4].reshape(150, BOTS // 4, 4) for of in (season.nodes, season.places))
    for rival in (plackett_luce, live_only):
        *_, ratings = rival(nodes, places, BOTS)
        assert rank_correlation(ratings, season.strengths) > 0.6


def test_shuffling_changes_the_order_and_nothing_else() -> None:
    chance = np.random.default_rng(4)
    entrants, events = events_of(2_000, chance)
    results = Columns.of(events)
    assert len(results) == 2_000 - VOIDS
    mixed = shuffled(results, chance)
    assert mixed.match_id.tolist() != results.match_id.tolist()
    assert sorted(mixed.match_id) == sorted(results.match_id)
    renamed = renumbered(events, chance)
    assert [event.number for event in renamed] == [*range(1, 2_001 + VOIDS)]
    assert sorted(Columns.of(renamed).match_id) == sorted(results.match_id)
    digests = {ladder(entrants, columns).digest for columns in (results, mixed, Columns.of(renamed))}
    assert len(digests) == 1
    fewer = Columns.of([event for event in events if event.number < 2_000])
    assert ladder(entrants, fewer).digest not in digests


def test_the_error_of_a_share_knows_that_a_world_errs_as_one() -> None:
    one_by_one = share(np.array([[19.0, 20.0]] * 100))
    assert one_by_one.value == pytest.approx(95)
    assert one_by_one.error == pytest.approx(100 * math.sqrt(0.95 * 0.05 / 2_000))
    in_common = share(np.array([[20.0, 20.0]] * 95 + [[0.0, 20.0]] * 5))
    assert in_common.error > 4 * one_by_one.error
    assert math.isnan(share(np.zeros((3, 2))).value)


def test_the_picture_is_xml_with_a_line_for_each_system() -> None:
    curves = [
        Curve(name, (20, 400, 3_200), np.array([[0.5, 0.9, last]])) for name, last in (("a & b", 0.9), ("c", 0.98))
    ]
    root = ET.fromstring(draw(curves))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}polyline")) == 2
    assert "a & b: 0.90" in [text.text for text in root.findall(f"{space}text")]
