"""The schema: migrations create the tables that the program expects, and foreign databases are refused by name."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import IntegrityError

from arena.store import schema
from arena.store.base.errors import StoreCorrupt, StoreError, StoreNewer, StoreTooOld, StoreUnusable
from arena.store.opening import open_readonly, open_to_amend
from arena.store.sqlite import migrations
from arena.store.sqlite.database import SqliteDatabase
from arena.store.store import open_store
from tests.store.in_memory import in_memory
from tests.store.recorded import oldest_database

pytestmark = pytest.mark.sqlite_only("it is about the file and its tables; the tables of both are compared elsewhere")


async def make(directory: Path) -> None:
    async with open_store(directory, 1):
        pass


async def refused(directory: Path) -> StoreError:
    """Return the error that both a server and a reader get."""
    with pytest.raises(StoreError) as for_server:
        await make(directory)
    with pytest.raises(type(for_server.value)), open_readonly(directory):
        pass
    return for_server.value


def definitions(connection: Connection) -> set[str]:
    """Return the definitions of tables and indexes as text."""
    rows = connection.execute(text("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name != 'alembic_version'"))
    return {" ".join(sql.replace('"', "").split()) for (sql,) in rows}


@pytest.mark.parametrize("recorded", [False, True])
async def test_new_and_migrated_databases_have_the_tables_of_the_metadata(directory: Path, recorded: bool) -> None:
    if recorded:
        with oldest_database(directory):
            pass
    await make(directory)
    with open_readonly(directory) as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
        found = definitions(connection)
    engine = in_memory(schema.metadata)
    with engine.connect() as connection:
        assert definitions(connection) == found
    engine.dispose()


def test_the_program_is_at_the_newest_migration_and_they_are_numbered_in_order() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    script = ScriptDirectory.from_config(config)
    revisions = [migration.revision for migration in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)
    assert script.get_heads() == [schema.REVISION]
    assert script.get_bases() == [schema.OLDEST]


async def test_tables_are_strict_and_constraints_hold(directory: Path) -> None:
    await make(directory)
    good = {"name": "Ada", "key": "ada", "owner": "Ada", "house": 0, "registered": 1}
    bad: list[tuple[dict[str, object], str]] = [
        ({"house": 2}, "CHECK"),
        ({"registered": "yesterday"}, "cannot store TEXT value in INTEGER column"),
        ({"name": None}, "NOT NULL"),
    ]
    for change, why in bad:
        with pytest.raises(IntegrityError, match=why), open_to_amend(directory) as connection:
            connection.execute(insert(schema.bots).values({**good, **change}))
    with pytest.raises(IntegrityError, match="FOREIGN KEY"), open_to_amend(directory) as connection:
        connection.execute(insert(schema.replays).values(match_id=9, content=b"", sha256=b""))
    with open_to_amend(directory) as connection:
        connection.execute(insert(schema.bots).values(good))
        assert connection.execute(text("SELECT count(*) FROM bots")).scalar() == 1


@pytest.mark.process
async def test_alembic_is_loaded_only_to_migrate(directory: Path) -> None:
    script = (
        "import sys, trio; from pathlib import Path; from arena.store.store import open_store\n"
        "async def main():\n"
        "    async with open_store(Path(sys.argv[1]), 1): print('alembic' in sys.modules)\n"
        "trio.run(main)"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(directory)]

    def run() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert [run(), run()] == ["False\n", "False\n"]
    shutil.rmtree(directory)
    with oldest_database(directory):
        pass
    assert run() == "True\n"


async def test_a_crash_while_the_tables_are_made_leaves_nothing_half_made(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_tables = SqliteDatabase.create_tables

    def crash(database: SqliteDatabase, connection: Connection) -> None:
        create_tables(database, connection)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "create_tables", crash)
        with pytest.raises(ZeroDivisionError):
            await make(directory)
    database = sqlite3.connect(directory / "arena.db")
    assert database.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    database.close()
    await make(directory)


async def set_revision(directory: Path, revision: str | None) -> None:
    await make(directory)
    with open_to_amend(directory) as connection:
        connection.execute(text("DELETE FROM alembic_version"))
        if revision is not None:
            connection.execute(text("INSERT INTO alembic_version VALUES (:new)"), {"new": revision})


async def test_a_database_of_a_newer_arena_is_refused(directory: Path) -> None:
    await set_revision(directory, "9999")
    before = (directory / "arena.db").read_bytes()
    error = await refused(directory)
    assert isinstance(error, StoreNewer)
    assert (error.revision, error.path) == ("9999", directory / "arena.db")
    assert "made by a newer arena" in str(error)
    assert "upgrade" in str(error)
    assert (directory / "arena.db").read_bytes() == before


@pytest.mark.parametrize(
    ("revision", "commit", "reached"),
    [("0016", "6904997", "0017"), ("0018", "f9fb6f4f", "0025"), ("0024", "f9fb6f4f", "0025")],
)
async def test_a_database_without_a_migration_is_refused(
    directory: Path, revision: str, commit: str, reached: str
) -> None:
    await set_revision(directory, revision)
    before = (directory / "arena.db").read_bytes()
    error = await refused(directory)
    assert isinstance(error, StoreTooOld)
    assert (error.revision, error.path) == (revision, directory / "arena.db")
    assert f"has the schema {revision}" in str(error)
    assert f"updates the schema {schema.OLDEST} and those from {schema.FIRST} on" in str(error)
    assert f"start the arena of commit {commit} on it first, which updates it to {reached}" in str(error)
    assert (directory / "arena.db").read_bytes() == before


async def test_a_database_that_does_not_say_its_schema(directory: Path) -> None:
    await set_revision(directory, None)
    assert isinstance(await refused(directory), StoreCorrupt)


async def test_a_file_that_is_no_database(directory: Path) -> None:
    directory.mkdir()
    (directory / "arena.db").write_bytes(b"To be or not to be, that is the question. " * 200)
    error = await refused(directory)
    assert isinstance(error, StoreCorrupt)
    assert str(directory / "arena.db") in str(error)
    assert "file is not a database" in str(error)


async def test_a_damaged_database(directory: Path) -> None:
    await make(directory)
    with (directory / "arena.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)
    assert isinstance(await refused(directory), StoreCorrupt)


async def test_a_cut_off_database(directory: Path) -> None:
    await make(directory)
    with (directory / "arena.db").open("r+b") as file:
        file.truncate(5000)
    assert isinstance(await refused(directory), StoreCorrupt)


async def test_the_database_of_another_program(directory: Path) -> None:
    directory.mkdir()
    database = sqlite3.connect(directory / "arena.db")
    database.execute("CREATE TABLE recipes (name TEXT)")
    database.close()
    error = await refused(directory)
    assert isinstance(error, StoreCorrupt)
    assert "recipes" in str(error)


async def test_a_reader_makes_nothing(directory: Path) -> None:
    for opening in (open_readonly, open_to_amend):
        with pytest.raises(StoreUnusable, match=r"has no arena\.db"), opening(directory):
            pass
    assert not directory.exists()
    directory.mkdir()
    (directory / "arena.db").touch()
    with pytest.raises(StoreUnusable, match="no tables yet"), open_readonly(directory):
        pass
