"""Flags are stored with their ladder, name bots and owners, and change none of the ladder's figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection, text

from arena.ladder.ladder import Flag, FlagKind
from arena.store.bots import bots
from arena.store.ladder.fits import Fits, recomputed
from arena.store.ladder.publishing import as_published, publish
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.ladder.standings import current, standing_out, standings
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_to_amend
from arena.store.store import open_store
from tests.store.jobs import GAME, NOW, finish
from tests.store.recorded import fill, oldest_database


def rigged(connection: Connection) -> None:
    """Ann wins 80 times against Eve, whose results against Bob and Cleo are average."""
    owners = {"Ann": "Ann", "Eve": "Mallory", "Bob": "Bob", "Cleo": "Bob"}
    known = {name: bots.register(connection, name, owner, NOW).bot.id for name, owner in owners.items()}
    for number in range(240):
        first, second = [("Ann", "Bob"), ("Eve", "Bob"), ("Eve", "Cleo"), ("Ann", "Cleo")][number % 4]
        play(connection, [known[first], known[second]], won=number // 4 % 2 == 0)
    for _ in range(80):
        play(connection, [known["Ann"], known["Eve"]], won=True)


def play(connection: Connection, players: list[bots.BotId], *, won: bool) -> None:
    match = matches.begin(connection, GAME, {}, players, NOW, said=["v1", "v1"])
    finish(connection, match, [1, 2] if won else [2, 1])


def test_a_published_ladder_has_its_flags_and_another_has_others(data: Path) -> None:
    with open_to_amend(data) as connection:
        rigged(connection)
        made = Fits().ladder(connection, GAME)
        assert {flag.kind for flag in made.flags} >= {FlagKind.PAIR, FlagKind.LIFT, FlagKind.CHANGE}
        publish(connection, GAME, made, NOW)
        assert as_published(connection, GAME) == made
        assert current(connection, GAME, GAME).flags == standing_out(connection, GAME)
        [pair] = [row for row in standing_out(connection, GAME) if row.kind is FlagKind.PAIR]
        assert (pair.bot, pair.owner, pair.other, pair.other_owner) == ("Ann", "Ann", "Eve", "Mallory")
        assert (pair.matches, pair.version) == (80, "")
        changes = {row.bot: row for row in standing_out(connection, GAME) if row.kind is FlagKind.CHANGE}
        assert (changes["Ann"].version, changes["Ann"].other) == ("v1", "")
        assert changes["Ann"].size > 0 > changes["Eve"].size
        publish(connection, GAME, replace(made, flags=made.flags[:1]), NOW)
        assert len(standing_out(connection, GAME)) == 1
        assert standing_out(connection, "skat") == ()


async def test_flags_of_before_there_were_those_of_many_opponents_stay(data: Path) -> None:
    tables = ("bots", "names", "versions", "ladders", "flags")
    with open_to_amend(data) as connection:
        rigged(connection)
        publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        before = standing_out(connection, GAME)
        rows = {name: [tuple(row) for row in connection.execute(text(f"SELECT * FROM {name}"))] for name in tables}
    old = data.parent / "old"
    with oldest_database(old) as database:
        fill(database, rows)
    async with open_store(old, NOW):
        pass
    with open_to_amend(old) as connection:
        assert standing_out(connection, GAME) == before != ()
        ladder = as_published(connection, GAME)
        assert ladder is not None
        many = ladder.flags[0]._replace(kind=FlagKind.OPPONENTS, other=None)
        publish(connection, GAME, replace(ladder, flags=(many,)), NOW)
        [row] = standing_out(connection, GAME)
        assert (row.kind, row.bot, row.other, row.matches) == (FlagKind.OPPONENTS, before[0].bot, "", many.matches)


def test_flags_change_no_rating_and_a_rebuilt_ladder_has_them_too(data: Path) -> None:
    with open_to_amend(data) as connection:
        rigged(connection)
        made = Fits().ladder(connection, GAME)
        publish(connection, GAME, replace(made, flags=()), NOW)
        before = standings(connection, GAME)
        assert verify(connection, GAME).identical
        rebuild(connection, GAME, NOW)
        assert standings(connection, GAME) == before
        found = as_published(connection, GAME)
        assert found is not None
        assert found.flags == made.flags == recomputed(connection, GAME, made.through).flags


def test_whose_a_hidden_or_deleted_bot_was_is_not_told(data: Path) -> None:
    with open_to_amend(data) as connection:
        rigged(connection)
        publish(connection, GAME, Fits().ladder(connection, GAME), NOW)
        moderation.hide(connection, "Ann", "", NOW)
        moderation.delete(connection, "Eve", "", NOW)
        for row in standing_out(connection, GAME):
            assert row.bot in {"Ann", "Eve"}
            assert (row.owner, row.other_owner) == ("", "")
        again = Fits().ladder(connection, GAME)
        assert [flag for flag in again.flags if flag.kind is FlagKind.PAIR], "a deleted bot is an owner of its own"


def test_house_bots_are_never_flagged(data: Path) -> None:
    with open_to_amend(data) as connection:
        (house,) = bots.ensure_house_bots(connection, ["house-careful"], NOW)
        ann = bots.register(connection, "Ann", "", NOW).bot.id
        for _ in range(60):
            play(connection, [ann, house.id], won=True)
        assert Fits().ladder(connection, GAME).flags == ()


def test_a_flag_of_a_version_that_no_longer_stands_on_the_ladder_is_of_its_bot(data: Path) -> None:
    with open_to_amend(data) as connection:
        rigged(connection)
        made = Fits().ladder(connection, GAME)
        lines = {line.node for line in made.lines}
        assert all(flag.node in lines for flag in made.flags if flag.kind is not FlagKind.CHANGE)
        assert all(isinstance(flag, Flag) for flag in made.flags)
