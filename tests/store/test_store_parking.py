"""Parking: matches that count, events that reset the count, reasons for parking, and the return to play."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from arena.store.base.errors import NotParked, OfTheHouse, UnknownBot
from arena.store.bots import bots
from arena.store.bots.bots import BotId
from arena.store.matches.matches import MatchId
from arena.store.moderation import parking
from arena.store.opening import open_to_amend
from tests.store.jobs import NOW, add_bots, begin, finish

LIMIT = 3


def play(
    connection: Connection, players: Sequence[BotId], *troubled: bool, match_id: MatchId | None = None
) -> list[str]:
    """Store a match of these bots. Return the names of the bots that it parks."""
    match_id = match_id or begin(connection, players)
    finish(connection, match_id, range(1, len(players) + 1))
    return [bot.name for bot in parking.count(connection, match_id, troubled, LIMIT, NOW + 9)]


def test_the_third_troubled_match_in_a_row_parks_a_bot_and_names_them(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        assert [play(connection, players, True, False) for _ in range(3)] == [[], [], ["Ada"]]
        ada, bob = bots.find(connection, "ada"), bots.find(connection, "bob")
    assert (ada.parked, ada.troubles) == (NOW + 9, (1, 2, 3))
    assert ada.why_parked == "in matches 1, 2 and 3, in a row, it was suspended or a house bot had to play on"
    assert (bob.parked, bob.troubles, bob.why_parked) == (None, (), "")


def test_a_normal_match_ends_the_row(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        for troubled in (True, True, False, True, True):
            assert play(connection, players, troubled, False) == []
        assert bots.find(connection, "Ada").troubles == (4, 5)
        assert play(connection, players, True, False) == ["Ada"]


def test_house_bots_are_never_parked(data: Path) -> None:
    with open_to_amend(data) as connection:
        (ada,) = add_bots(connection, "Ada")
        (house,) = bots.ensure_house_bots(connection, ["house-1"], NOW)
        for _ in range(2 * LIMIT):
            assert play(connection, [ada, house.id], False, True) == []
        with pytest.raises(OfTheHouse):
            parking.unpark(connection, "house-1")


def test_un_parking_forgives_what_began_before(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        running = [begin(connection, players) for _ in range(LIMIT)]
        for _ in range(LIMIT):
            play(connection, players, True, False)
        assert parking.unpark(connection, "ADA").parked is None
        for match_id in running:
            assert play(connection, players, True, False, match_id=match_id) == []
        assert bots.find(connection, "Ada").troubles == ()
        assert [play(connection, players, True, False) for _ in range(3)] == [[], [], ["Ada"]]


def test_a_parked_bot_keeps_the_reason_whatever_its_running_matches_come_to(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        for troubled in (True, True, True, True, False):
            play(connection, players, troubled, False)
        assert bots.find(connection, "Ada").troubles == (1, 2, 3)


def test_only_a_parked_bot_can_be_un_parked(data: Path) -> None:
    with open_to_amend(data) as connection:
        add_bots(connection, "Ada")
        with pytest.raises(NotParked, match="Ada is not parked"):
            parking.unpark(connection, "ada")
        with pytest.raises(UnknownBot, match="'Eve'"):
            parking.unpark(connection, "Eve")
