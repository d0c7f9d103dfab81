"""Flags mark bots that lose on purpose, but no honest bots and no house bots. The order of results has no effect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Guest, Node
from arena.ladder.fitted import ladder
from arena.ladder.flags import CHANGE_ERRORS, LIFT_ELO, PAIR_ERRORS, flags
from arena.ladder.ladder import Flag, FlagKind
from bench.ladder.accomplices import NAME_MEETINGS, thrown_away
from bench.ladder.arrays import columns_of
from bench.ladder.collusion import Night, guests_of, night
from bench.ladder.source import fit
from bench.ladder.world import ANCHORS, Conditions, play

SEED = 4711


@pytest.fixture(scope="module")
def sybils() -> Night:
    return night((SEED,))


def found(world: Night, guests: dict[Node, Guest] | None = None) -> tuple[Flag, ...]:
    fitted = fit(world.entrants, world.columns)
    return flags(world.columns, fitted.ladder, guests_of(world.entrants) if guests is None else guests)


def test_a_bot_that_others_lose_to_on_purpose_stands_out_with_each_of_them(sybils: Night) -> None:
    every = found(sybils)
    for kind in (FlagKind.PAIR, FlagKind.LIFT):
        named = {(flag.node, flag.other) for flag in every if flag.kind is kind}
        assert named == {(sybils.head, accomplice) for accomplice in sybils.accomplices}
    for flag in every:
        if flag.kind is FlagKind.PAIR:
            assert flag.errors >= PAIR_ERRORS
            assert 0.1 < flag.size < 1
            assert 300 <= flag.matches < 400, "those of the night, and the days' few"
        if flag.kind is FlagKind.LIFT:
            assert LIFT_ELO < flag.size < 60
    assert not [flag for flag in every if flag.kind is FlagKind.OWNERS], "every owner has one bot"
    assert [abs(flag.errors) for flag in every] == sorted((abs(flag.errors) for flag in every), reverse=True)


def test_it_changed_under_one_version_by_day_and_by_night(sybils: Night) -> None:
    [head] = [flag for flag in found(sybils) if flag.kind is FlagKind.CHANGE and flag.node == sybils.head]
    assert head.other is None
    assert head.size > 100, "better since"
    assert head.errors > CHANGE_ERRORS
    rated = {figure.node: figure for figure in fit(sybils.entrants, sybils.columns).ladder.figures}
    assert head.matches == rated[head.node].matches == 700


def test_a_step_of_newton_agrees_with_a_fit_without_the_results(sybils: Night) -> None:
    fitted = fit(sybils.entrants, sybils.columns)
    lifts = {flag.other: flag.size for flag in found(sybils) if flag.kind is FlagKind.LIFT}
    for accomplice in sybils.accomplices:
        spoilt = sybils.columns.nodes == accomplice
        without = columns_of(sybils.columns.nodes, sybils.columns.places, spoilt=spoilt)
        refitted = fit(sybils.entrants, without).ratings
        assert lifts[Node(accomplice)] == pytest.approx(fitted.ratings[sybils.head] - refitted[sybils.head], abs=5)


def test_the_order_of_the_results_shows_in_no_flag(sybils: Night) -> None:
    order = np.random.default_rng(SEED).permutation(len(sybils.columns))
    columns = sybils.columns
    shuffled = columns_of(columns.nodes[order], columns.places[order], match_id=columns.match_id[order])
    assert found(sybils._replace(columns=shuffled)) == found(sybils)


def test_bots_of_one_owner_are_taken_together(sybils: Night) -> None:
    guests = guests_of(sybils.entrants)
    whole = dict(guests)
    for accomplice in sybils.accomplices:
        whole[Node(accomplice)] = guests[Node(accomplice)]._replace(owner="a ring")
    every = found(sybils, whole)
    [lift] = [flag for flag in every if flag.kind is FlagKind.LIFT]
    apart = [flag.size for flag in found(sybils) if flag.kind is FlagKind.LIFT]
    assert lift.node == sybils.head
    assert lift.other in sybils.accomplices
    assert lift.size > 1.5 * max(apart)
    [owners] = [flag for flag in every if flag.kind is FlagKind.OWNERS]
    assert (owners.node, owners.other in sybils.accomplices) == (sybils.head, True)
    assert owners.errors > max(flag.errors for flag in every if flag.kind is FlagKind.PAIR)
    same = {node: guest._replace(owner="one for all") for node, guest in guests.items()}
    assert {flag.kind for flag in found(sybils, same)} == {FlagKind.CHANGE}, "an owner gains nothing from himself"


def test_nothing_of_the_house_is_flagged(sybils: Night) -> None:
    guests = guests_of(sybils.entrants)
    of_the_house = {sybils.head: None, **dict.fromkeys(sybils.accomplices)}
    rest = {node: guest for node, guest in guests.items() if node not in of_the_house}
    assert not {flag.node for flag in found(sybils, rest)} & of_the_house.keys()
    assert found(sybils, {}) == ()


@pytest.mark.parametrize("conditions", [Conditions(), Conditions(ties=0.15, changing=True)])
def test_honest_bots_are_not_taken_for_a_ring(conditions: Conditions) -> None:
    for number in range(3):
        season = play(conditions, 300, np.random.default_rng([SEED, number]))
        columns = columns_of(season.nodes, season.places)
        known = {int(node) for node in np.unique(season.nodes)}
        entrants = [each for each in season.entrants if each.node in known and each.parent in known | {None}]
        kept = columns.only(
            columns.match_id[np.isin(columns.nodes, [-1, *(each.node for each in entrants)]).all(axis=1)]
        )
        raised = flags(kept, ladder(entrants, kept), guests_of(entrants))
        assert {flag.kind for flag in raised} <= {FlagKind.CHANGE}
        assert len(raised) <= 3


def test_a_bot_to_which_many_names_lose_a_little_stands_out_though_no_pair_does() -> None:
    world = thrown_away((SEED,))
    every = found(world)
    [flag] = [flag for flag in every if flag.kind is FlagKind.OPPONENTS]
    assert (flag.node, flag.other) == (world.head, None)
    assert flag.errors > 5
    assert 0.1 < flag.size < 0.6
    assert flag.matches > NAME_MEETINGS * len(world.accomplices) / 2
    assert not {FlagKind.PAIR, FlagKind.LIFT} & {flag.kind for flag in every}
    assert not [flag for flag in found(world._replace(columns=world.without)) if flag.kind is FlagKind.OPPONENTS]


@pytest.mark.parametrize(("losers", "winners", "flagged"), [(8, 0, True), (7, 0, False), (8, 8, False), (9, 8, True)])
def test_many_opponents_are_eight_at_least_and_more_than_half_lose(losers: int, winners: int, flagged: bool) -> None:
    """All bots score half against the house bots. Each meets one bot six times and loses, or wins, all six matches."""
    others = range(2, 2 + losers + winners)
    tables = [(0, other) for other in (1, *others) for _ in range(400)]
    tables += [(1, other) for other in others for _ in range(6)]
    won = [number % 2 for number in range(400 * (1 + len(others)))]
    won += [int(other < 2 + losers) for other in others for _ in range(6)]
    columns = columns_of(tables, [(1, 2) if each else (2, 1) for each in won])
    entrants = [Entrant(Node(node), anchor=node == 0) for node in range(2 + losers + winners)]
    kinds = {flag.kind for flag in flags(columns, ladder(entrants, columns), guests_of(entrants)) if flag.node == 1}
    assert (FlagKind.OPPONENTS in kinds) is flagged


def test_versions_of_a_bot_are_one_in_its_pairs(sybils: Night) -> None:
    """The ring's head changes its version during the night. Its gain is still flagged."""
    child, head = Node(len(sybils.entrants)), Node(sybils.head)
    nodes = sybils.columns.nodes.copy()
    nodes[-150:][nodes[-150:] == head] = child
    columns = columns_of(nodes, sybils.columns.places)
    entrants = [each._replace(newest=each.node != head) for each in sybils.entrants]
    entrants.append(entrants[head]._replace(node=child, parent=head, newest=True))
    guests = guests_of(sybils.entrants)
    guests[child] = guests[head]
    pairs = [flag for flag in flags(columns, ladder(entrants, columns), guests) if flag.kind is FlagKind.PAIR]
    assert {(flag.node, flag.other) for flag in pairs} == {(child, accomplice) for accomplice in sybils.accomplices}
    assert all(flag.matches >= 300 for flag in pairs)


def test_a_ladder_without_results_or_guests_has_no_flags() -> None:
    empty = Columns.of_results(())
    assert flags(empty, ladder((), empty), {}) == ()
    season = play(Conditions(), 10, np.random.default_rng(SEED))
    columns = columns_of(season.nodes, season.places)
    rated = ladder(season.entrants, columns)
    assert flags(columns, rated, {Node(ANCHORS): Guest(1, "ann")}) == ()
    assert replace(rated, flags=(Flag(FlagKind.PAIR, Node(1), None, 1, 1.0, 1.0),)).digest == rated.digest
