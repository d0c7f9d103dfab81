"""Creation of the tables and their migration to this program's schema.

Only a migration imports Alembic, which is slow to load.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, inspect, select, text

from arena.store.base.database import Database
from arena.store.base.errors import NodeError, StoreCorrupt, StoreNewer, StoreOlder, StoreTooOld, StoreUnusable
from arena.store.schema import FIRST, OLDEST, REVISION, metadata

REVISIONS: Final = re.compile(r"[0-9]{4}")
"""Pattern of the revisions of the arena's migrations."""
_VERSION: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Alembic's table with the revision of the database, exactly as Alembic creates it."""

_AT_ONCE: Final = 1000
"""Number of rows that `copy_rows` reads in one step."""


def migrate(connection: Connection, database: Database) -> None:
    """Create or migrate the tables, in the transaction of the connection.

    Raises: StoreNewer, StoreTooOld, StoreCorrupt, NodeError: Other servers are using it.
    """
    revision = revision_of(connection, database)
    if revision == REVISION:
        return
    if revision is None:
        database.create_tables(connection)
        _VERSION.create(connection)
        connection.execute(insert(_VERSION).values(version_num=REVISION))
        return
    if database.used_elsewhere(connection):
        raise NodeError(
            f"{database.path} names a database of an older arena (schema {revision}), which other servers use now; "
            "stop them all, so that this server can update it"
        )
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(database.migrations).replace("%", "%%"))
    config.attributes.update(connection=connection, metadata=metadata)
    command.upgrade(config, REVISION)


def copy_rows(connection: Connection, to: Connection, progress: Callable[[int, int], None]) -> None:
    """Copy all rows to a database of another kind that has empty tables.

    `progress` is called with the number of copied tables and their total number.
    """
    tables = metadata.sorted_tables
    for done, table in enumerate(tables):
        rows = connection.execute(select(table).order_by(*table.primary_key)).mappings()
        while some := rows.fetchmany(_AT_ONCE):
            to.execute(insert(table), [dict(row) for row in some])
        progress(done + 1, len(tables))


def require_current(connection: Connection, database: Database) -> None:
    """Check that the database has this program's schema.

    Raises: StoreNewer, StoreOlder, StoreTooOld, StoreUnusable, StoreCorrupt.
    """
    revision = revision_of(connection, database)
    if revision is None:
        raise StoreUnusable(database.path, "it has no tables yet; a server started on it makes them")
    if revision != REVISION:
        raise StoreOlder(database.path, revision)


def check_revision(path: Path, revision: str) -> None:
    """Check that a database has this program's schema, or an older schema with a migration to it.

    Raises: StoreNewer, StoreTooOld.
    """
    if revision > REVISION:  # Revisions are numbered in order.
        raise StoreNewer(path, revision)
    if revision < FIRST and revision != OLDEST:
        raise StoreTooOld(path, revision, OLDEST, FIRST)


def revision_of(connection: Connection, database: Database) -> str | None:
    """Return the revision of the database's schema; None for an empty database.

    Raises: StoreNewer, StoreTooOld, StoreCorrupt.
    """
    tables = inspect(connection).get_table_names()
    if "alembic_version" not in tables:
        if tables:
            raise StoreCorrupt(database.path, f"it has the tables {', '.join(tables)}")
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if not isinstance(revision, str):
        raise StoreCorrupt(database.path, "it does not say its schema")
    if not REVISIONS.fullmatch(revision) or "matches" not in tables:
        raise StoreCorrupt(database.path, f"it has the tables {', '.join(tables)} and the schema {revision!r}")
    check_revision(database.path, revision)
    return revision
