"""The games that a server offers, as `arena serve` reads them from its arguments."""

from __future__ import annotations

import pytest

from arena.cli.game_options import parse_ladders
from engine.game import OptionError
from engine.registry import GAMES
from tests.match.counting import CountingGame

TWO = {name: GAMES[name] for name in ("sixth_sense", "nullern")}
"""The games of this file: one with options, and one with more seats and no options."""


def offered(*words: str) -> dict[str, tuple[tuple[int, ...], dict[str, object]]]:
    """Return tables and options by game. Words with = are options, numbers are table sizes, and other words are
    games.
    """
    options = [word for word in words if "=" in word]
    seats = [word for word in words if word[-1].isdecimal() and "=" not in word]
    chosen = [word for word in words if word not in (*options, *seats)]
    return {
        ladder.game.name: (ladder.seats, dict(ladder.options)) for ladder in parse_ladders(TWO, chosen, seats, options)
    }


def test_every_game_is_offered_at_tables_for_four() -> None:
    assert offered() == {name: ((4,), {}) for name in TWO}


def test_a_game_without_a_table_for_four_is_offered_at_the_nearest() -> None:
    crowded = CountingGame()
    crowded.seats = range(6, 9)
    [ladder] = parse_ladders({crowded.name: crowded}, [], [], [])
    assert ladder.seats == (6,)


def test_a_game_can_be_chosen() -> None:
    assert offered("nullern") == {"nullern": ((4,), {})}
    assert offered("nullern", "sixth_sense", "nullern").keys() == {"nullern", "sixth_sense"}


def test_a_size_is_for_every_game_that_has_it() -> None:
    assert offered("3", "7") == {"sixth_sense": ((3,), {}), "nullern": ((3, 7), {})}
    assert offered("7") == {"nullern": ((7,), {})}, "a game without such a table is not offered"


def test_sizes_of_a_game_go_before_those_of_all() -> None:
    assert offered("3", "nullern:5", "nullern:7", "nullern:5") == {"sixth_sense": ((3,), {}), "nullern": ((5, 7), {})}
    assert offered("nullern:6") == {"sixth_sense": ((4,), {}), "nullern": ((6,), {})}


def test_an_option_is_for_every_game_that_has_it() -> None:
    assert offered("target=50") == {"sixth_sense": ((4,), {"target": 50}), "nullern": ((4,), {})}
    assert offered("sixth_sense:novice=true", "3") == {
        "sixth_sense": ((3,), {"novice": True}),
        "nullern": ((3,), {}),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["9"], "6th Sense is for 2 to 6 seats, not 9"),
        (["sixth_sense", "7"], "6th Sense is for 2 to 6 seats, not 7"),
        (["sixth_sense:7"], "6th Sense is for 2 to 6 seats, not 7"),
        (["sixth_sense", "nullern:7"], "'nullern:7' is for a game that is not offered; there is sixth_sense"),
        (["four4"], "seats are written N or GAME:N, not 'four4'"),
        (["nullern", "novice=true"], "there is no option 'novice'; there is none"),
        (["volume=11"], "there is no option 'volume'; there is late_trump, novice, target"),
        (["nullern:novice=true"], "Nullern has no option 'novice'; it has none"),
        (["novice=maybe"], "option novice takes true, false or a number, not 'maybe'"),
        (["novice=1"], "option novice takes a bool, not 1"),
        (["novice=true", "late_trump=true"], "option late_trump does not go with novice"),
        (["7", "novice=true"], "there is no option 'novice'; there is none"),
    ],
)
def test_what_fits_no_game_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(OptionError) as refused:
        offered(*words)
    assert said in str(refused.value)


def test_an_option_without_a_value_is_refused() -> None:
    with pytest.raises(OptionError, match="an option is written NAME=VALUE, not 'novice'"):
        parse_ladders(TWO, [], [], ["novice"])
