"""Ladders in the store: what is stored for one never touches another, even another of the same game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from arena.ladder.ladder import Quota
from arena.store import schema
from arena.store.bots.bots import BotId
from arena.store.ladder import baselines, events
from arena.store.ladder.fits import Fits
from arena.store.ladder.opponents import opponents
from arena.store.ladder.publishing import publish
from arena.store.ladder.rebuild import verify
from arena.store.ladder.standings import history, standings
from arena.store.ladder.version_standings import version_standings
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, finish

LADDERS = (GAME, "slow", "slow/2")
KEYED = (
    *(schema.matches, schema.rated_results, schema.ratings, schema.pair_days, schema.baselines),
    *(schema.ladders, schema.standings, schema.kept_ladders, schema.flags),
)
NAMED = (schema.invitations, schema.bot_ladders, schema.paces, schema.seasons)
QUOTA = Quota(1, 0, 0)


def stored(connection: Connection, ladder_id: str) -> dict[str, Sequence[Any]]:
    """What is stored for a ladder, and what is read of it."""
    found: dict[str, Sequence[Any]] = {
        table.name: connection.execute(select(table).where(table.c.ladder == ladder_id)).all() for table in KEYED
    }
    pages: dict[str, Callable[..., Sequence[Any]]] = {
        "history": history,
        "opponents": opponents,
        "versions": version_standings,
    }
    found |= {name: page(connection, "ann", ladder_id) for name, page in pages.items()}
    found["live"] = standings(connection, ladder_id)
    found["voided"] = sorted(events.voided(connection, ladder_id, 0, 100))
    found["missing"] = baselines.missing(connection, ladder_id, 9)
    return found


def evening(connection: Connection, fits: Fits, ladder_id: str, players: list[BotId]) -> None:
    """Three results, of which one has no baseline and one is void, and a published ladder with a flag."""
    named = "" if ladder_id == GAME else ladder_id
    played = [matches.begin(connection, GAME, {}, players, NOW, ladder_id=named) for _ in range(3)]
    for match_id in played:
        finish(connection, match_id, [1, 2], quota=QUOTA)
    for match_id in played[:2]:
        baselines.add(connection, ladder_id, match_id, "house-a 1", [3, -3])
    assert matches.void(connection, played[1], "a test", NOW + 2) == ladder_id
    assert publish(connection, ladder_id, fits.ladder(connection, ladder_id), NOW + 3)
    flag = {"ladder": ladder_id, "number": 1, "kind": "lift", "node": 1, "matches": 3, "size": 0.5, "errors": 5.0}
    connection.execute(insert(schema.flags).values(flag))


def test_what_is_stored_for_a_ladder_leaves_the_others_alone(data: Path) -> None:
    fits = Fits(QUOTA)
    with open_to_amend(data) as connection:
        players = add_bots(connection, "ann", "bob")
        for ladder_id in LADDERS:
            others = {each: stored(connection, each) for each in LADDERS if each != ladder_id}
            evening(connection, fits, ladder_id, players)
            assert {each: stored(connection, each) for each in others} == others
            found = stored(connection, ladder_id)
            assert [name for name, rows in found.items() if not rows] == []
            assert [event.number for event in events.read(connection, ladder_id)] == [1, 2, 3, 4]
            assert verify(connection, ladder_id).identical
        digests = connection.scalars(select(schema.ladders.c.digest)).all()
        assert (len(digests), len({*digests})) == (3, 1), "each ladder began anew"


def test_every_table_with_a_ladder_is_looked_at() -> None:
    found = {table.name for table in schema.metadata.tables.values() if "ladder" in table.c}
    assert found == {table.name for table in (*KEYED, *NAMED)}
