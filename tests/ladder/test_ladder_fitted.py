"""The ladder is a pure function of the results, regardless of their order. Its published values are correct."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder.columns import Columns
from arena.ladder.errors import LadderError, UnknownNode
from arena.ladder.events import Entrant, Event, MatchResult, Node, Void
from arena.ladder.fitted import FittedLadder, ladder
from arena.ladder.ladder import Figure, Ladder, provisional
from arena.ladder.shrinkage import shrunk
from arena.ladder.standard_errors import chances_of_best
from bench.ladder.arrays import columns_of

FIELD = [Entrant(Node(node), anchor=node < 3) for node in range(12)]


def figure(made: Ladder, node: int) -> Figure:
    return next(figure for figure in made.figures if figure.node == node)


def wins(number: int, matches: int, winner: int, loser: int) -> list[MatchResult]:
    seats = (Node(winner), Node(loser))
    return [MatchResult(n, n, seats, (1, 2), (True, True)) for n in range(number, number + matches)]


@pytest.mark.thorough
@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_no_order_shows_to_the_last_bit(season: Callable[..., list[MatchResult]], chance: Random) -> None:
    results = season(1, range(12), 400, seats=(2, 3, 4, 7), spoilt=0.05)
    entrants = [*FIELD, Entrant(Node(20), Node(4))]
    first = ladder(entrants, Columns.of_results(results))
    chance.shuffle(results)
    chance.shuffle(entrants)
    assert ladder(entrants, Columns.of_results(results)) == first


def test_the_order_of_the_seats_does_not_show_either(season: Callable[..., list[MatchResult]]) -> None:
    results = season(1, range(12), 400, seats=(2, 3, 4, 7), spoilt=0.05)
    turned = [
        result._replace(
            nodes=result.nodes[::-1], places=result.places[::-1], counts=result.counts[::-1], spoilt=result.spoilt[::-1]
        )
        for result in results
    ]
    assert ladder(FIELD, Columns.of(turned)) == ladder(FIELD, Columns.of(results))


def test_every_figure_is_in_the_digest(season: Callable[..., list[MatchResult]]) -> None:
    results = season(2, range(12), 100)
    one = ladder(FIELD, Columns.of(results))
    results[50] = results[50]._replace(places=results[50].places[::-1])
    assert ladder(FIELD, Columns.of(results)).digest != one.digest
    assert ladder([*FIELD, Entrant(Node(99), newest=False)], Columns.of(results)).digest != one.digest


def test_a_voided_match_is_as_if_it_had_never_been(season: Callable[..., list[MatchResult]]) -> None:
    results = season(3, range(12), 200)
    events: list[Event] = [*results, Void(201, results[20].match_id, "lag"), Void(202, results[199].match_id, "lag")]
    kept = [result for n, result in enumerate(results) if n not in (20, 199)]
    voided = ladder(FIELD, Columns.of(events))
    assert voided.through == 202
    assert replace(voided, through=199) == ladder(FIELD, Columns.of_results(kept))


def test_the_truth_as_events_come_in_is_the_truth_from_scratch(season: Callable[..., list[MatchResult]]) -> None:
    results = season(4, range(12), 300, seats=(2, 4, 5), spoilt=0.1)
    events: list[Event] = list(results[:250])
    for old in (3, 249, 90):
        events.append(Void(len(events) + 1, results[old].match_id, "found out later"))
    events += [result._replace(number=number) for number, result in enumerate(results[250:], start=254)]
    newcomer = [*FIELD, Entrant(Node(15), Node(3)), Entrant(Node(-2))]

    fitted = FittedLadder(events[:40])
    for count, event in enumerate(events[40:], start=41):
        fitted.take(event)
        entrants = newcomer if count > 150 else FIELD
        if count in (50, 51, 200, 252, len(events)):
            whole = Columns.of(events[:count])
            assert fitted.through == count
            assert fitted.ladder(entrants) == ladder(entrants, whole)
            assert sorted(fitted.columns().match_id) == sorted(whole.match_id)
    assert fitted.ladder(FIELD) == ladder(FIELD, Columns.of(events))


def test_an_event_that_does_not_fit_is_not_taken() -> None:
    first, second = wins(1, 2, winner=0, loser=1)
    fitted = FittedLadder([first])
    for event, why in (
        (second._replace(number=3), "the list is not whole"),
        (second._replace(number=1), "a repetition or out of order"),
        (second._replace(match_id=1), "more than one result"),
        (second._replace(places=(2, 3)), "are no ranking"),
    ):
        with pytest.raises(LadderError, match=why):
            fitted.take(event)
    fitted.take(second)
    assert fitted.ladder(FIELD) == ladder(FIELD, Columns.of([first, second]))


def test_who_is_no_entrant_has_no_ladder_until_it_is_one() -> None:
    fitted = FittedLadder(wins(1, 5, winner=0, loser=1))
    fitted.ladder(FIELD)
    for event in wins(6, 5, winner=40, loser=1):
        fitted.take(event)
    with pytest.raises(UnknownNode, match="node 40 has a seat in match 6"):
        fitted.ladder(FIELD)
    entrants = [*FIELD, Entrant(Node(40))]
    assert fitted.ladder(entrants) == ladder(entrants, fitted.columns())
    with pytest.raises(UnknownNode, match="node 40"):
        fitted.ladder(FIELD)
    with pytest.raises(UnknownNode, match="node 40"):
        ladder(FIELD, fitted.columns())
    with pytest.raises(LadderError, match="among the entrants more than once"):
        ladder([*FIELD, FIELD[0]], fitted.columns())


def test_the_anchors_that_have_played_have_the_mean_1500(season: Callable[..., list[MatchResult]]) -> None:
    results = season(5, range(1, 12), 300)  # anchor 0 has no match
    made = ladder(FIELD, Columns.of(results))
    assert figure(made, 1).rating + figure(made, 2).rating == pytest.approx(3000, abs=0.01)
    unanchored = ladder([entrant._replace(anchor=False) for entrant in FIELD], Columns.of(results))
    middle = np.mean([figure(unanchored, node).rating for node in range(1, 12)])
    assert middle == pytest.approx(1500, abs=3), "the mean by information: all but the plain one where all play as much"
    assert unanchored.field.scale_error == 0
    shifts = [one.rating - other.rating for one, other in zip(made.figures, unanchored.figures, strict=True)]
    assert shifts == pytest.approx([shifts[0]] * 12, abs=0.01)


def test_the_scale_has_an_error_of_its_own_and_no_other_error_includes_it(
    season: Callable[..., list[MatchResult]],
) -> None:
    columns = Columns.of(season(5, range(12), 300))
    made = ladder(FIELD, columns)
    unanchored = ladder([entrant._replace(anchor=False) for entrant in FIELD], columns)
    assert [figure.error for figure in made.figures] == [figure.error for figure in unanchored.figures]
    alone = ladder([entrant._replace(anchor=entrant.node == 0) for entrant in FIELD], columns)
    assert alone.field.scale_error == pytest.approx(figure(alone, 0).error, abs=0.01), "it is the only anchor's"
    assert 0 < made.field.scale_error < 0.75 * alone.field.scale_error, "a mean of three is known better"


@pytest.mark.parametrize("matches", [0, 1])
def test_a_newcomer_makes_nobody_else_less_known(season: Callable[..., list[MatchResult]], matches: int) -> None:
    results = season(15, range(5), 400)
    field, settled = FIELD[:5], ladder(FIELD[:5], Columns.of(results))
    joined = ladder(
        [*field, Entrant(Node(7))],
        Columns.of([*results, *wins(401, matches, winner=7, loser=1)]),
    )
    for before in settled.figures:
        after = figure(joined, before.node)
        assert before.error < 25
        assert after.error == pytest.approx(before.error, rel=0.02)
    assert figure(joined, 7).error > 200


def test_an_empty_ladder_is_an_empty_ladder() -> None:
    made = ladder((), Columns.of(()))
    assert (made.lines, made.figures, made.through) == ((), (), 0)
    assert FittedLadder().ladder(()) == made


def test_one_bot_alone_is_at_the_prior_whatever_it_plays_with_itself() -> None:
    alone = ladder([Entrant(Node(3))], Columns.of(())).lines
    itself = ladder([Entrant(Node(3))], Columns.of([MatchResult(1, 1, (Node(3),) * 2, (1, 2), (True, True))])).lines
    for line in (*alone, *itself):
        assert (line.rating, line.error, line.opponents) == (1500, 250, 0)
        assert (line.shrunk, line.shrunk_error) == (1500, 250)
        assert (line.rank, line.rank_low, line.rank_high, line.best) == (1, 1, 1, 1.0)


def test_a_bot_without_matches_is_in_the_middle_of_the_field(
    season: Callable[..., list[MatchResult]],
) -> None:
    made = ladder([*FIELD, Entrant(Node(12))], Columns.of(season(6, range(12), 500)))
    newcomer = next(line for line in made.lines if line.node == 12)
    middle = np.mean([line.rating for line in made.lines if line.node != 12])
    assert newcomer.rating == pytest.approx(middle, abs=0.01)
    # the middle of the field is uncertain, too
    assert newcomer.error == pytest.approx(250 * np.sqrt(1 + 1 / 12), abs=2)
    assert (newcomer.rank_low, newcomer.rank_high) == (1, 13)
    assert newcomer.best < made.lines[0].best  # without evidence no bot is the best


@pytest.mark.parametrize("matches", [1, 100, 100_000])
def test_who_always_wins_has_a_finite_rating(matches: int) -> None:
    nodes = np.tile([0, 1], (matches, 1))
    made = ladder(FIELD[:2], columns_of(nodes, np.tile([1, 2], (matches, 1))))
    winner, loser = made.lines
    assert winner.node == 0
    assert loser.rating < 1500 < winner.rating < 3500
    assert 0 < winner.error < 250


def test_groups_that_never_met_are_rated_and_their_difference_is_not_pretended_to_be_known() -> None:
    results = [
        MatchResult(n, n, (Node(4 * (n % 2)), Node(4 * (n % 2) + 1)), (1, 1), (True, True)) for n in range(1, 2001)
    ]
    made = ladder([Entrant(Node(node)) for node in (0, 1, 4, 5)], Columns.of(results))
    assert [line.rating for line in made.lines] == pytest.approx([1500] * 4, abs=0.01)
    assert all(line.error > 80 for line in made.lines)
    assert all((line.rank_low, line.rank_high) == (1, 4) for line in made.lines)


def test_only_the_newest_versions_have_ranks_and_all_have_figures(season: Callable[..., list[MatchResult]]) -> None:
    old, young = FIELD[5]._replace(newest=False), Entrant(Node(30), Node(5))
    columns = Columns.of(season(7, range(12), 300))
    made = ladder([*FIELD[:5], old, *FIELD[6:], young], columns)
    assert {line.node for line in made.lines} == {*range(12), 30} - {5}
    assert [figure.node for figure in made.figures] == [*range(12), 30]
    assert figure(made, 30).matches == 0
    assert figure(made, 30).error > 240, "what its parent is says nothing of its own results"
    line = next(line for line in made.lines if line.node == 30)
    before = next(line for line in ladder(FIELD, columns).lines if line.node == 5)
    assert line.shrunk == pytest.approx(before.shrunk, abs=6), "but much of what it is likely to be"
    assert 40 < line.shrunk_error < 90


def test_versions_of_one_bot_are_one_opponent() -> None:
    bots = [Entrant(Node(0)), *(Entrant(Node(node), Node(node - 1) if node > 1 else None) for node in range(1, 9))]
    results = [result for node in range(1, 9) for result in wins(node, 1, winner=0, loser=node)]
    made = ladder(bots, Columns.of(results))
    assert figure(made, 0).opponents == 1
    assert figure(made, 0).matches == 8
    assert figure(made, 4).opponents == 1


def test_a_rating_is_provisional_until_its_error_is_40_and_it_has_met_8_or_all_there_are() -> None:
    assert not provisional(40.0, opponents=8, others=11)
    assert provisional(40.1, opponents=8, others=11)
    assert provisional(40.0, opponents=7, others=11)
    assert provisional(40.0, opponents=4, others=5)
    assert not provisional(40.0, opponents=5, others=5)
    assert provisional(40.1, opponents=0, others=0)


def test_lines_carry_their_figures_best_first(season: Callable[..., list[MatchResult]]) -> None:
    made = ladder(FIELD, Columns.of(season(8, range(12), 400)))
    assert all(one.shrunk >= other.shrunk for one, other in pairwise(made.lines))
    for line in made.lines:
        same = figure(made, line.node)
        assert (line.rating, line.error, line.matches, line.opponents) == same[1:]
        assert line.shrunk_error < 1.1 * line.error
        assert (line.shrunk - made.field.centre) * (line.rating - line.shrunk) > 0, "drawn towards the centre"


def test_bots_whose_ranks_do_not_overlap_surely_differ_and_others_may(
    season: Callable[..., list[MatchResult]],
) -> None:
    made = ladder(FIELD, Columns.of(season(16, range(12), 1500)))
    apart = [
        (one, other)
        for number, one in enumerate(made.lines)
        for other in made.lines[number + 1 :]
        if one.rank_high < other.rank_low
    ]
    assert len(apart) > 10
    for one, other in apart:
        assert one.rating - other.rating > 1.9 * np.hypot(one.error, other.error)


@pytest.mark.parametrize("matches", [0, 20, 400, 5000])
def test_a_rank_is_within_its_interval_and_chances_sum_to_1(
    season: Callable[..., list[MatchResult]], matches: int
) -> None:
    made = ladder(FIELD, Columns.of(season(9, range(12), matches)))
    assert all(1 <= line.rank_low <= line.rank <= line.rank_high <= 12 for line in made.lines)
    assert sum(line.best for line in made.lines) == pytest.approx(1, abs=1e-5)


def test_equal_ratings_share_a_rank() -> None:
    results = [result._replace(places=(1, 1)) for result in wins(1, 10, winner=0, loser=1)]
    made = ladder(FIELD[:2], Columns.of(results))
    assert [line.rank for line in made.lines] == [1, 1]
    assert [line.best for line in made.lines] == [0.5, 0.5]


def test_ties_make_settled_errors_smaller(season: Callable[..., list[MatchResult]]) -> None:
    fine, coarse = (
        ladder(FIELD, Columns.of(season(10, range(12), 2000, seats=(2,), grid=grid))) for grid in (1e-9, 1.5)
    )
    assert np.mean([line.error for line in coarse.lines]) < 0.85 * np.mean([line.error for line in fine.lines])


def test_chances_of_being_the_best_are_those_of_a_simulation() -> None:
    ratings = np.array([1600.0, 1590, 1560, 1500, 1400, 1450])
    errors = np.array([20.0, 30, 10, 60, 15, 12])
    chances = chances_of_best(ratings, errors)
    drawn = np.random.default_rng(11).normal(ratings, errors, (200_000, 6)).argmax(axis=1)
    assert chances == pytest.approx(np.bincount(drawn, minlength=6) / 200_000, abs=0.005)


def test_chances_of_a_field_of_equals_do_not_trust_the_luckiest() -> None:
    chance = np.random.default_rng(12)
    ratings = 1500 + 20 * chance.normal(size=200)
    errors = np.full(200, 20.0)
    posterior = shrunk(ratings, errors)
    assert chances_of_best(posterior.means, posterior.errors).max() < 0.08
    assert chances_of_best(ratings, errors).max() > 0.1


def test_a_ladder_of_one_seat_count(season: Callable[..., list[MatchResult]]) -> None:
    results = season(13, range(12), 300, seats=(2, 4))
    duels = [result for result in results if len(result.nodes) == 2]
    made = ladder(FIELD, Columns.of(results).with_seats(2))
    assert made.through == 300
    assert made.digest == ladder(FIELD, Columns.of_results(duels)).digest


THREADS = """
import sys
from random import Random
from arena.ladder.events import Entrant
from arena.ladder.fitted import ladder
from bench.ladder.arrays import columns_of
chance = Random(14)
nodes = [chance.sample(range(100), 4) for _ in range(1500)]
sys.stdout.write(ladder([Entrant(n) for n in range(100)], columns_of(nodes, [[1, 2, 3, 4]] * 1500)).digest)
"""


@pytest.mark.process
def test_the_number_of_threads_does_not_show() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env={"OPENBLAS_NUM_THREADS": threads, "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1
    assert len(digests.pop()) == 64
