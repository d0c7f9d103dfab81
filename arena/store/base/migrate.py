"""Migration of a database to this program's schema. Alembic is slow to import: loaded only if there is work to do."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import Connection, inspect, text

from arena.store.base.database import Database
from arena.store.base.errors import StoreCorrupt, StoreNewer, StoreOlder, StoreUnusable
from arena.store.schema import REVISION, metadata

REVISIONS: Final = re.compile(r"[0-9]{4}")
"""The names of the arena's migrations."""


def check(connection: Connection, database: Database) -> bool:
    """Return whether an existing database has tables; StoreNewer or StoreCorrupt if they are not this program's."""
    return _revision(connection, database) is not None


def migrate(connection: Connection, database: Database) -> None:
    """Create or migrate the tables, in the transaction of the connection. Raises: StoreNewer, StoreCorrupt."""
    if _revision(connection, database) == REVISION:
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(database.migrations).replace("%", "%%"))
    config.attributes.update(connection=connection, metadata=metadata)
    command.upgrade(config, REVISION)


def require_current(connection: Connection, database: Database) -> None:
    """Check that the schema is this program's; StoreNewer, StoreOlder, StoreUnusable or StoreCorrupt if not."""
    revision = _revision(connection, database)
    if revision is None:
        raise StoreUnusable(database.path, "it has no tables yet; a server started on it makes them")
    if revision != REVISION:
        raise StoreOlder(database.path, revision)


def _revision(connection: Connection, database: Database) -> str | None:
    """Return the last migration applied to the database, None for an empty one. Raises: StoreNewer, StoreCorrupt."""
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
    if revision > REVISION:  # migrations are numbered in order
        raise StoreNewer(database.path, revision)
    return revision
