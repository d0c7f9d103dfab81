"""The interface to the database: only one folder uses SQLite, and no other statement is specific to it."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.dialects import registry

from arena import store
from arena.store import schema
from arena.store.base.database import Database
from arena.store.base.directory import database_of
from arena.store.base.statements import Statement
from arena.store.sqlite.engine import StrictDialect

CHECKOUT = Path(__file__).parents[2]
OWN_WORDS = re.compile(r"sqlite|(?<!# )pragma|rowid|sqlalchemy\.dialects|RAISE\(ABORT", re.IGNORECASE)
CHOICE = {
    "base/directory.py": [
        "from arena.store.sqlite.database import SqliteDatabase",
        "return SqliteDatabase(directory)",
        "own = SqliteDatabase(directory)",
    ],
    "postgres/database.py": ['return Path(__file__).parents[1] / "sqlite" / "migrations"'],
}
"""The module that chooses the database of a data directory, and the path of the migrations that both share."""


def test_nothing_outside_its_folder_knows_sqlite() -> None:
    own = {CHECKOUT / "arena" / "store" / name for name in ("sqlite", "postgres/engine.py")}
    sources = [each for room in ("arena", "engine") for each in (CHECKOUT / room).rglob("*.py")]
    found = {
        f"{source.relative_to(CHECKOUT)}: {line.strip()}"
        for source in sources
        if not own & {source, *source.parents}
        for line in source.read_text().splitlines()
        if OWN_WORDS.search(line)
    }
    assert found == {f"arena/store/{name}: {line}" for name, lines in CHOICE.items() for line in lines}


def statements() -> Iterator[Statement]:
    for module in pkgutil.walk_packages(store.__path__, "arena.store."):
        if ".migrations." in module.name:  # alembic runs these modules
            continue
        yield from (each for each in vars(importlib.import_module(module.name)).values() if isinstance(each, Statement))


def test_statements_of_every_match_are_compiled_for_the_database_that_runs_them() -> None:
    found = list(statements())
    assert len(found) > 10
    for statement in found:
        own, other = statement.sql(StrictDialect()), statement.sql(registry.load("postgresql.psycopg")())
        assert re.findall(r":(\w+)", own) == re.findall(r"%\((\w+)\)s", other)
        assert "?" not in own
        assert own is statement.sql(StrictDialect()), "compiled once"


def test_only_added_rows_are_declared_where_the_tables_are() -> None:
    guarded = {table.name: table.info[schema.APPEND_ONLY] for table in schema.metadata.sorted_tables if table.info}
    assert guarded == {
        "bot_events": schema.AppendOnly("number"),
        "rated_results": schema.AppendOnly("number", within="ladder"),
        "log": schema.AppendOnly("number"),
    }


@pytest.mark.parametrize("inside", ["data", "50% of data"])
def test_a_database_can_be_handed_to_another_process(tmp_path: Path, inside: str) -> None:
    database: Database = pickle.loads(pickle.dumps(database_of(tmp_path / inside)))
    assert database == database_of(tmp_path / inside)
    assert not database.path.is_file()
    with database.locked(), database.writing().begin() as connection:
        connection.exec_driver_sql("CREATE TABLE recipes (name TEXT)")
    assert database.path.is_file()
    with database.reading().connect() as connection:
        assert connection.exec_driver_sql("SELECT * FROM recipes").all() == []
