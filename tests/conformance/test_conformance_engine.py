"""Every registered game keeps every promise of an engine at every table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.game import Game, option_text
from engine.registry import GAMES
from tests.conformance import promises, secrecy
from tests.conformance.table import Table, tables

TABLES = [table for game in GAMES.values() for table in tables(game)]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_the_registry_knows_a_game_by_its_name(game: Game) -> None:
    assert GAMES[game.name] is game


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
@pytest.mark.parametrize("promise", promises.OF_A_GAME, ids=lambda promise: promise.__name__)
def test_a_game_keeps_its_promise(game: Game, promise: Callable[[Game], None]) -> None:
    promise(game)


THOROUGH = {promises.a_copy_plays_on_as_the_game_does, promises.it_takes_numpys_numbers_and_gives_none}
"""Promises that take more than half of the total time."""


@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize(
    "promise",
    [
        pytest.param(promise, marks=[pytest.mark.thorough] if promise in THOROUGH else [], id=promise.__name__)
        for promise in (*promises.OF_A_TABLE, *secrecy.OF_A_TABLE)
    ],
)
def test_a_table_keeps_its_promise(table: Table, promise: Callable[[Table], None]) -> None:
    promise(table)


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_table_keeps_its_promises_again_and_again(table: Table) -> None:
    for chance in range(1, 11):
        for promise in (*promises.OF_A_TABLE, *secrecy.OF_A_TABLE):
            promise(replace(table, chance=chance))


def test_options_are_written_as_people_and_protocols_do() -> None:
    assert [option_text(value) for value in (True, False, 50)] == ["true", "false", "50"]
