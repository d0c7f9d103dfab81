"""A store's tables in an SQLite database in memory, for tests."""

from __future__ import annotations

from sqlalchemy import Engine, MetaData, StaticPool, create_engine

from arena.store.base.statements import forget_on_rollback
from arena.store.sqlite.engine import create_tables


def in_memory(metadata: MetaData) -> Engine:
    """Return an engine with a new in-memory database that contains these tables. Nothing is written to disk."""
    engine = create_engine("sqlite+strict://", poolclass=StaticPool)
    forget_on_rollback(engine)
    with engine.begin() as connection:
        create_tables(connection, metadata)
    return engine
