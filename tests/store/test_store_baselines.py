"""Baselines in the store: numbered in the order of arrival, read with their results, and published with the ladder."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from arena.ladder.events import Node
from arena.ladder.luck_columns import DealKind, LuckColumns, ReplayedMatch
from arena.store import schema
from arena.store.bots.bots import BotId
from arena.store.ladder import baselines
from arena.store.ladder.fits import Fits, recomputed
from arena.store.ladder.publishing import as_published, publish, replayed
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.ladder.standings import of_tables, standings
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, finish

HOUSE = "house-a 1, house-b 2"


def play(connection: Connection, chance: Random, players: list[BotId], count: int) -> list[int]:
    """Store finished matches of two or three bots."""
    played = []
    for _ in range(count):
        seated = chance.sample(players, chance.randint(2, 3))
        match_id = matches.begin(connection, GAME, {}, seated, NOW)
        finish(connection, match_id, chance.sample(range(1, len(seated) + 1), len(seated)))
        played.append(int(match_id))
    return played


def replay(connection: Connection, chance: Random, played: list[int]) -> None:
    for match_id in played:
        seats = len(matches.get_match(connection, match_id).seats)
        baselines.add(connection, GAME, match_id, HOUSE, [chance.randint(-20, 20) for _ in range(seats)])


@pytest.fixture
def played(data: Path) -> Path:
    """Forty matches. The first thirty were replayed in a different order."""
    with open_to_amend(data) as connection:
        chance = Random(1)
        numbers = play(connection, chance, add_bots(connection, "ann", "bob", "cleo", "dan"), 40)
        replay(connection, chance, chance.sample(numbers[:30], 30))
    return data


def test_a_baseline_is_the_sum_of_the_bots_that_replayed(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        match_id = matches.begin(connection, GAME, {"rounds": 3}, [ann, bob], NOW)
        finish(connection, match_id, [2, 1])
        baselines.add(connection, GAME, match_id, HOUSE, [-3, 8])
        kind = DealKind(2, '{"rounds": 3}', HOUSE)
        expected = ReplayedMatch(1, match_id, kind, (Node(1), Node(2)), (True, True), (8, 9), (-3, 8))
        assert list(baselines.read(connection, GAME)) == [expected]
        assert list(baselines.read(connection, "another")) == []
        with pytest.raises(IntegrityError, match=r"UNIQUE|unique"), connection.begin_nested():
            baselines.add(connection, GAME, match_id, HOUSE, [0, 0])


def test_matches_without_a_baseline_are_those_after_the_last_one_with(data: Path) -> None:
    with open_to_amend(data) as connection:
        chance = Random(2)
        numbers = play(connection, chance, add_bots(connection, "ann", "bob", "cleo"), 10)
        matches.void(connection, numbers[9], "a test", NOW)
        assert baselines.missing(connection, GAME, 100) == tuple(numbers)
        assert baselines.missing(connection, GAME, 3) == tuple(numbers[7:])
        assert baselines.missing(connection, "another", 3) == ()
        replay(connection, chance, [numbers[0], numbers[4]])
        assert baselines.missing(connection, GAME, 100) == tuple(numbers[5:])
        assert baselines.newest(connection, GAME) == 2


def test_the_luck_column_is_made_of_the_rows_alone_however_they_are_read(played: Path) -> None:
    fits = Fits()
    with open_to_amend(played) as connection:
        chance = Random(3)
        ladder = fits.ladder(connection, GAME)
        assert (ladder.through, ladder.replayed, len(ladder.luck)) == (40, 30, 4)
        left = list(baselines.missing(connection, GAME, 100))
        replay(connection, chance, left[:2])
        assert fits.ladder(connection, GAME) == recomputed(connection, GAME, 40, 32) == Fits().ladder(connection, GAME)
        assert recomputed(connection, GAME, 40, 30) == ladder, "what came late did not change the past"
        first = next(baselines.read(connection, GAME)).match_id
        matches.void(connection, first, "a test", NOW)
        without = fits.ladder(connection, GAME)
        assert without == recomputed(connection, GAME, 41, 32) == Fits().ladder(connection, GAME)
        assert sum(each.matches for each in without.luck) < sum(each.matches for each in ladder.luck) + 6
        assert fits.ladder(connection, GAME, seats=2).luck == ()


def test_baselines_leave_the_ratings_and_their_digest_alone(played: Path) -> None:
    with open_readonly(played) as connection:
        with_luck, without = recomputed(connection, GAME, 40, 30), recomputed(connection, GAME, 40)
    assert (with_luck.lines, with_luck.figures, with_luck.digest) == (without.lines, without.figures, without.digest)
    assert (without.luck, without.replayed) == ((), 0)


def test_the_luck_column_is_published_bit_for_bit_and_verified(played: Path) -> None:
    with open_to_amend(played) as connection:
        assert replayed(connection, GAME) == 0
        ladder = Fits().ladder(connection, GAME)
        publish(connection, GAME, ladder, NOW)
        assert as_published(connection, GAME) == ladder
        assert replayed(connection, GAME) == 30
        luck = LuckColumns()
        for match in baselines.read(connection, GAME):
            luck.take(match, void=False)
        told = {line.luck and astuple(line.luck) for line in standings(connection, GAME)}
        assert told == {figures[1:] for figures in luck.figures()}
        small = of_tables(connection, GAME, GAME, 2, Fits().ladder(connection, GAME, 2))
        assert {line.luck for line in small.standings} == {None}
        replay(connection, Random(4), list(baselines.missing(connection, GAME, 1)))
        assert verify(connection, GAME).identical, "what is not published yet makes no difference"
        node = connection.scalar(select(schema.standings.c.node).order_by(schema.standings.c.node).limit(1))
        own = schema.standings.c.node == node
        connection.execute(update(schema.standings).where(own).values(adjusted=schema.standings.c.adjusted + 2**-40))
        assert verify(connection, GAME).differing == (node,)
        rebuild(connection, GAME, NOW)
        assert verify(connection, GAME).identical
        assert replayed(connection, GAME) == 31
