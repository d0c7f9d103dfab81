"""Databases as older programs made them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import NullPool, create_engine

from arena.store.schema import metadata
from arena.store.sqlite import migrations


@contextmanager
def older_database(directory: Path, revision: str) -> Iterator[sqlite3.Connection]:
    """A new data directory at a revision of the schema, to be filled by hand."""
    directory.mkdir()
    path = directory / "arena.db"
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with create_engine(f"sqlite:///{path}", poolclass=NullPool).begin() as connection:
        config.attributes.update(connection=connection, metadata=metadata)
        command.upgrade(config, revision)
    with closing(sqlite3.connect(path)) as database, database:
        yield database
