"""Seats in the deal pairs of a comparison."""

import re
from collections import Counter
from pathlib import Path

import pytest

from arena.local.match.design import ONE, OTHER, Design, Pairing, default_design, fielded, games_of, pairs, planned
from engine.registry import GAMES


@pytest.mark.parametrize("seats", range(2, 8))
@pytest.mark.parametrize("design", Design)
def test_tables_are_full_and_everybody_sits_everywhere_as_often(design: Design, seats: int) -> None:
    field = {*range(2, 2 + fielded(design, seats))}
    sat: Counter[tuple[int, int]] = Counter()
    rounds = seats * (seats - 1) * max(1, len(field))
    for number in range(rounds):
        games = planned(design, seats, number, 5)
        assert len(games) == 2
        for game, pair in zip(games, ({ONE}, {OTHER}), strict=True):
            both = {ONE, OTHER} if design is Design.ONE_TABLE else pair
            assert {*game.bots} == both | field
            assert len(game.bots) == seats
            sat.update((bot, seat) for seat, bot in enumerate(game.bots) if bot in (ONE, OTHER))
    assert {*sat.values()} == {sat[ONE, 0]}, "the two sit in every seat as often as in every other"
    assert len(sat) == 2 * seats


@pytest.mark.parametrize("design", Design)
def test_what_is_compared_is_alike_but_for_what_the_design_says(design: Design) -> None:
    keys = set()
    for number in range(20):
        one, other = planned(design, 4, number, 5)
        keys |= {one.key, other.key}
        assert (one.key == other.key) is (design is not Design.INDEPENDENT)
        if design is Design.ONE_TABLE:
            exchanged = {ONE: OTHER, OTHER: ONE}
            assert other.bots == tuple(exchanged.get(bot, bot) for bot in one.bots)
        else:
            assert other.bots == tuple(OTHER if bot == ONE else bot for bot in one.bots)
    assert len(keys) == (40 if design is Design.INDEPENDENT else 20)


def test_a_set_follows_from_its_number_and_the_seed() -> None:
    assert planned(Design.SAME_SEATS, 4, 3, 5) == planned(Design.SAME_SEATS, 4, 3, 5)
    assert planned(Design.SAME_SEATS, 4, 3, 5)[0].key != planned(Design.SAME_SEATS, 4, 3, 6)[0].key


def test_the_default_is_what_needs_the_fewest_games() -> None:
    """The default seating agrees with the table in docs/workbench.md."""
    text = (Path(__file__).parents[2] / "docs" / "workbench.md").read_text()
    rows = re.findall(r"^\| (\w+) \| (\d) \| ([\d.]+) ± .*? \| .*? \| ([\d.]+) ± ", text, re.MULTILINE)
    assert [(game, int(seats)) for game, seats, _, _ in rows] == [
        (name, seats) for name, game in GAMES.items() for seats in game.seats
    ]
    for game, seats, same_seats, one_table in rows:
        best = Design.ONE_TABLE if float(one_table) >= 0.95 * float(same_seats) else Design.SAME_SEATS
        assert default_design(game, int(seats)) is best


@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("design", Design)
@pytest.mark.parametrize("compared", [2, 3, 5])
def test_each_pair_of_many_has_the_games_that_two_alone_would_have(
    design: Design, pairing: Pairing, compared: int
) -> None:
    """Independent games of further pairs differ only in their deals: the game numbers run on from pair to pair."""
    both = pairs(compared, pairing)
    each = {(one, other) for one in range(compared) for other in range(one + 1, compared)}
    assert {*both} == (each if pairing is Pairing.ROUND_ROBIN else {(0, other) for other in range(1, compared)})
    for number in range(12):
        games = planned(design, 4, number, 5, compared, pairing)
        alone = planned(design, 4, number, 5)
        assert len(games) == (2 * len(both) if design is Design.ONE_TABLE else compared)
        used = set()
        for pair in both:
            found = [games[at] for at in games_of(design, pair, compared, pairing)]
            used |= {*games_of(design, pair, compared, pairing)}
            names = {pair[0]: ONE, pair[1]: OTHER}
            tables = [tuple(names.get(bot, bot - compared + 2) for bot in game.bots) for game in found]
            assert tables == [game.bots for game in alone]
            if design is not Design.INDEPENDENT:
                assert [game.key for game in found] == [game.key for game in alone]
            else:
                assert found[0].key != found[1].key
        assert used == {*range(len(games))}, "nothing is played for nothing"
