"""Brings a database to this program's schema. Alembic, slow to import, is loaded only where it is not there yet."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from arena.store.errors import StoreCorrupt, StoreNewer, StoreOlder, StoreUnusable
from arena.store.schema import REVISION


def upgrade(connection: Connection, path: Path) -> None:
    """Makes or migrates the tables, inside the transaction of the connection.

    StoreNewer: a newer program made them. StoreCorrupt: they are not the arena's.
    """
    if _revision(connection, path) == REVISION:
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISION)


def require_current(connection: Connection, path: Path) -> None:
    """Checks that the tables are this program's; StoreNewer, StoreOlder, StoreUnusable or StoreCorrupt if not."""
    revision = _revision(connection, path)
    if revision is None:
        raise StoreUnusable(path, "it has no tables yet; a server started on it makes them")
    if revision != REVISION:
        raise StoreOlder(path, revision)


def _revision(connection: Connection, path: Path) -> str | None:
    """The migration the database stands at, at most this program's; None for a new one."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" not in tables:
        if tables:
            raise StoreCorrupt(path, f"it has the tables {', '.join(tables)}")
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if not isinstance(revision, str):
        raise StoreCorrupt(path, "it does not say its schema")
    if revision > REVISION:  # migrations are numbered in order
        raise StoreNewer(path, revision)
    return revision
