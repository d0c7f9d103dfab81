"""Versions of a bot side by side: from the published fit, with the figures of their matches in the database."""

from __future__ import annotations

from math import hypot
from pathlib import Path
from statistics import NormalDist

import pytest
from sqlalchemy import Connection, select

from arena.ladder.version_gains import VersionGains
from arena.store import schema
from arena.store.base.errors import UnknownBot
from arena.store.base.rows import instant
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import publish
from arena.store.ladder.version_standings import MOST_OF_A_BOT, version_standings
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, finish

HOUR = 3_600_000_000


def play(connection: Connection, players: list[int], said: list[str], places: list[int], at: int) -> int:
    match = matches.begin(connection, GAME, {}, players, at, said=said)  # type: ignore[arg-type]
    finish(connection, match, places, at)
    return match


def fitted(connection: Connection) -> None:
    publish(connection, GAME, Fits().ladder(connection, GAME), NOW)


def test_each_version_stands_beside_the_one_before_it(data: Path) -> None:
    with open_to_amend(data) as connection:
        players: list[int] = [*add_bots(connection, "Ada", "Bob")]
        for number, (version, place) in enumerate([("1", 2), ("1", 1), ("2", 1), ("2", 1), ("2", 1), ("1", 2)]):
            play(connection, players, [version, ""], [place, 3 - place], NOW + number * HOUR)
        fitted(connection)
        play(connection, players, ["3", ""], [1, 2], NOW + 6 * HOUR)
        third, second, first = version_standings(connection, "ADA", GAME)
        query = select(schema.versions.c.version, schema.standings.c.rating, schema.standings.c.error)
        nodes = {row.version: row for row in connection.execute(query.join(schema.standings)) if row.version}
    assert [row.version for row in (first, second, third)] == ["1", "2", "3"]
    assert [row.matches for row in (first, second, third)] == [3, 3, 1]
    assert [row.shown for row in (first, second, third)] == [True, False, False], "it went back to the first"
    assert (first.first, first.last) == (instant(NOW), instant(NOW + 5 * HOUR))
    assert (second.first, second.last) == (instant(NOW + 2 * HOUR), instant(NOW + 4 * HOUR))
    assert third.first == third.last == instant(NOW + 6 * HOUR)
    assert (second.fitted, second.fitted_deviation) == (nodes["2"].rating, nodes["2"].error)
    assert second.difference is not None
    assert second.difference == nodes["2"].rating - nodes["1"].rating > 0
    assert second.difference_deviation == hypot(nodes["2"].error, nodes["1"].error)
    own = (second.difference, second.difference_deviation)
    assert second.better == VersionGains([own]).better(*own)
    assert 0.5 < second.better < NormalDist(0, second.difference_deviation).cdf(second.difference)
    assert (first.difference, first.difference_deviation, first.better) == (None,) * 3
    assert (third.fitted, third.difference, third.better) == (None,) * 3, "no fit has it yet"
    assert third.live > 1500


def test_how_much_versions_gain_is_learned_from_the_newest_of_all_bots_of_the_game(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob, cleo = add_bots(connection, "Ada", "Bob", "Cleo")
        for number, version in enumerate("abcdefghijklmn"):
            play(connection, [ada, bob, cleo], [version, "", "kl"[number > 7]], [1, 2, 3], NOW)
        fitted(connection)
        ladder = version_standings(connection, "Ada", GAME), version_standings(connection, "Cleo", GAME)
        older = version_standings(connection, "Ada", GAME, limit=2, before=ladder[0][3].number)
        for at in range(3):
            match = matches.begin(connection, "skat", {}, [ada, bob], NOW, said=["xyz"[at], ""])
            finish(connection, match, [1, 2], NOW)
        publish(connection, "skat", Fits().ladder(connection, "skat"), NOW)
        assert version_standings(connection, "Ada", GAME) == ladder[0], "another game says nothing of this one"
    assert [len(rows) for rows in ladder] == [14, 2]
    measured = [
        (row.difference, row.difference_deviation)
        for row in (*ladder[0][:MOST_OF_A_BOT], *ladder[1][:1])
        if row.difference is not None and row.difference_deviation is not None
    ]
    assert len(measured) == MOST_OF_A_BOT + 1
    gains = VersionGains(measured)
    for row in (*ladder[0][:-1], ladder[1][0], older[0]):
        assert row.difference is not None
        assert row.difference_deviation is not None
        assert row.better == pytest.approx(gains.better(row.difference, row.difference_deviation))


def test_pages_of_versions_compare_across_their_edge(data: Path) -> None:
    with open_to_amend(data) as connection:
        players: list[int] = [*add_bots(connection, "Ada", "Bob")]
        for version in "abcde":
            play(connection, players, [version, ""], [1, 2], NOW)
        fitted(connection)
        every = version_standings(connection, "Ada", GAME)
        page = version_standings(connection, "Ada", GAME, limit=2)
        rest = version_standings(connection, "Ada", GAME, limit=9, before=page[-1].number)
    assert "".join(row.version for row in every) == "edcba"
    assert page + rest == every
    assert page[-1].difference is not None


def test_a_version_whose_only_result_is_void_is_not_listed(data: Path) -> None:
    with open_to_amend(data) as connection:
        players: list[int] = [*add_bots(connection, "Ada", "Bob")]
        void = play(connection, players, ["1", ""], [1, 2], NOW)
        play(connection, players, ["2", ""], [1, 2], NOW + 1)
        matches.void(connection, void, "a test", NOW)
        (row,) = version_standings(connection, "Ada", GAME)
        assert (row.version, row.difference) == ("2", None)
        with pytest.raises(UnknownBot):
            version_standings(connection, "nobody", GAME)
        assert version_standings(connection, "Ada", "skat") == ()
