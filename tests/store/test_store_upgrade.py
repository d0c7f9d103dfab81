"""Upgrades: directories of the oldest schema open with all their contents, and an upgrade to the next revision is
atomic.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import fmean

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from arena.ladder.ladder import NO_QUOTA
from arena.replay.read import read
from arena.replay.verify import verify
from arena.store import schema
from arena.store.base.errors import StoreOlder
from arena.store.ladder.publishing import as_published
from arena.store.ladder.rebuild import verify as verify_ladder
from arena.store.ladder.standings import standings
from arena.store.log.audit import audit
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_readonly, open_to_amend
from arena.store.sqlite import migrations
from arena.store.sqlite.database import SqliteDatabase
from arena.store.store import FilesFound, open_store
from tests.store.jobs import NOW, add_bots
from tests.store.recorded import recorded_directory

pytestmark = pytest.mark.sqlite_only("PostgreSQL never had an older schema")

RECORDED_GAME = "sixth_sense"
KEYED = ("ratings", "pair_days", "events", "baselines", "ladders", "standings", "kept_ladders", "flags")
"""Tables whose key was a game in the oldest schema."""


async def make(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass


def put_replays_in_rows(directory: Path) -> None:
    """Put the replays back into the database. An older server left them there if the disk was too full to move them."""
    content = (directory / "replays" / "00000001.gz").read_bytes()
    with closing(sqlite3.connect(directory / "arena.db")) as database, database:
        for number, start, length in database.execute("SELECT match_id, start, length FROM replays").fetchall():
            place = "content = ?, segment = 0, start = 0, length = 0"
            database.execute(
                f"UPDATE replays SET {place} WHERE match_id = ?", (content[start : start + length], number)
            )
        database.execute("UPDATE replay_segments SET number = 0, size = 0")
    (directory / "replays" / "00000001.gz").unlink()


@pytest.mark.parametrize("in_rows", [False, True])
async def test_a_directory_of_the_oldest_schema_opens_with_all_that_is_in_it(directory: Path, in_rows: bool) -> None:
    recorded_directory(directory)
    if in_rows:
        put_replays_in_rows(directory)
    with pytest.raises(StoreOlder, match="starting a server on it updates it") as older, open_readonly(directory):
        pass
    assert older.value.revision == schema.OLDEST
    async with open_store(directory, NOW) as store:
        assert (store.lost, store.files) == ({}, FilesFound())
        assert [*store.unfinished] == [5], "the match that was being played is in the journal"
    with open_readonly(directory) as connection:
        checked = audit(connection, replays=True)
        assert checked.faults == []
        assert checked.kinds == {"key": 1, "rated": 4, "ban": 1}
        ladder = as_published(connection, RECORDED_GAME)
        assert ladder is not None
        assert (ladder.through, ladder.quota, len(standings(connection, RECORDED_GAME))) == (4, NO_QUOTA, 5)
        assert verify_ladder(connection, RECORDED_GAME).identical
        results = [row.seats for row in matches.list_matches(connection, game=RECORDED_GAME) if row.ended is not None]
        for line in standings(connection, RECORDED_GAME):
            scores = [[seat.score or 0 for seat in seats if seat.bot == line.bot] for seats in results]
            assert line.mean_points == pytest.approx(fmean(fmean(own) for own in scores if own)), line.bot
        for match_id in range(1, 5):
            assert verify(read(matches.get_replay(connection, match_id))).verified
        assert [event.name for event in moderation.list_events(connection)] == ["Bob"]


async def test_what_was_keyed_by_a_game_is_keyed_by_its_default_ladder(directory: Path) -> None:
    recorded_directory(directory)
    with closing(sqlite3.connect(directory / "arena.db")) as database, database:
        database.execute("INSERT INTO invitations VALUES (x'01', 'Ada', 5, NULL), (x'02', 'Bob', 4, NULL)")
        database.execute("INSERT OR REPLACE INTO paces SELECT id, 0.5, 7, 1.5 FROM bots WHERE name = 'Ada'")
        before = {table: database.execute(f"SELECT * FROM {table}").fetchall() for table in KEYED}
        assert before["ratings"]
        assert before["events"]
    await make(directory)
    with closing(sqlite3.connect(directory / "arena.db")) as database:
        now = {table: "rated_results" if table == "events" else table for table in KEYED}
        for table, rows in before.items():
            after = database.execute(f"SELECT * FROM {now[table]}").fetchall()
            assert [row[: len(old)] for row, old in zip(after, rows, strict=True)] == rows, table
        assert all(
            "ladder" in {row[1] for row in database.execute(f"PRAGMA table_info({now[each]})")} for each in KEYED
        )
        assert database.execute("SELECT DISTINCT game, ladder FROM matches").fetchall() == [(RECORDED_GAME,) * 2]
        found = database.execute("SELECT number, owner, ladder, expires, revoked FROM invitations ORDER BY number")
        assert found.fetchall() == [(1, "Bob", "", None, None), (2, "Ada", "", None, None)]
        kept = database.execute("SELECT ladder, pace, at, balance FROM paces WHERE at = 7").fetchall()
        assert kept == [("", 0.5, 7, 1.5)]
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    refused = (
        ("UPDATE matches SET kind = 'party' WHERE id = 1", "CHECK"),
        ("UPDATE rated_results SET places = '21'", "only added"),
        ("DELETE FROM rated_results", "only added"),
        (
            "INSERT INTO rated_results SELECT ladder, 9, 5, kind, at, '', '', '', '', '' FROM rated_results",
            "without a gap",
        ),
    )
    for statement, why in refused:
        with pytest.raises(IntegrityError, match=why), open_to_amend(directory) as connection:
            connection.execute(text(statement))
    with open_to_amend(directory) as connection:
        connection.execute(text("UPDATE matches SET kind = 'event' WHERE id = 1"))


@contextmanager
def next_revision(monkeypatch: pytest.MonkeyPatch, folder: Path, last: str) -> Iterator[str]:
    """Give the program a made-up revision after its newest. It adds a column and ends with the line `last`."""
    number = f"{int(schema.REVISION) + 1:04}"
    shutil.copytree(Path(migrations.__file__).parent, folder)
    (folder / "versions" / f"v{number}_colours.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision = {number!r}\ndown_revision = {schema.REVISION!r}\n"
        "def upgrade():\n"
        "    op.add_column('bots', sa.Column('colour', sa.Text, nullable=False, server_default='red'))\n"
        f"    {last}\n"
    )
    with monkeypatch.context() as newer:
        newer.setattr(SqliteDatabase, "migrations", folder)
        newer.setattr("arena.store.base.migrate.REVISION", number)
        yield number


async def test_the_next_revision_is_made_at_the_next_start(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_to_amend(data) as connection:
        add_bots(connection, "Ada")
    with next_revision(monkeypatch, tmp_path / "migrations", "pass") as number:
        with pytest.raises(StoreOlder, match=schema.REVISION), open_readonly(data):
            pass
        await make(data)
        with open_readonly(data) as connection:
            assert connection.execute(text("SELECT name, colour FROM bots")).all() == [("Ada", "red")]
            assert connection.scalar(text("SELECT version_num FROM alembic_version")) == number


async def test_a_crash_in_the_next_revision_leaves_the_old_schema(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(data / "arena.db")) as database:
        before = [*database.iterdump()]
    crash = next_revision(monkeypatch, tmp_path / "migrations", "raise ZeroDivisionError")
    with crash, pytest.raises(ZeroDivisionError):
        await make(data)
    with closing(sqlite3.connect(data / "arena.db")) as database:
        assert [*database.iterdump()] == before
    await make(data)
