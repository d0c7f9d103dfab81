"""The kind of a match is stored with it; of matches of before, it is found by what they did."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from arena.replay.header import MatchKind
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, begin, finish
from tests.store.older import older_database

TABLES = ("bots", "names", "versions", "matches", "match_seats")


async def test_matches_of_before_are_casual_where_their_result_moved_no_rating(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass
    with open_to_amend(directory) as connection:
        players = add_bots(connection, "Ada", "Bob")
        finish(connection, begin(connection, players), [1, 2], at=NOW)
        finish(connection, begin(connection, players), [1, 2], at=NOW)
        begin(connection, players)
        connection.execute(text("UPDATE match_seats SET rating_after = NULL WHERE match_id = 2"))
        rows = {name: [tuple(row) for row in connection.execute(text(f"SELECT * FROM {name}"))] for name in TABLES}
    old = directory.parent / "old"
    with older_database(old, "0010") as database:
        for name, found in rows.items():
            kept = [row[:-1] if name == "matches" else row for row in found]
            database.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(kept[0]))})", kept)
    async with open_store(old, NOW):
        pass
    with open_readonly(old) as connection:
        kinds = {row.match_id: row.kind for row in matches.list_matches(connection)}
    assert kinds == {1: MatchKind.RATED, 2: MatchKind.CASUAL, 3: MatchKind.RATED}
