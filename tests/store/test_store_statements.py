"""Statements that the driver runs directly behave like statements that SQLAlchemy runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from arena.store import schema
from arena.store.base.statements import Statement
from arena.store.sqlite.engine import create_tables, writing

LADDERS = schema.ladders
ADD = Statement(insert(LADDERS), "ladder", "through", "digest", "at", "scale_error", "centre", "spread")
MOVE = Statement(update(LADDERS).where(LADDERS.c.ladder == bindparam("of_ladder")), "through")
READ = Statement(select(LADDERS.c.ladder, LADDERS.c.through).order_by(LADDERS.c.ladder))


def row(game: str) -> dict[str, object]:
    return {
        "ladder": game,
        "through": 1,
        "digest": "a secret",
        "at": 0,
        "scale_error": 9.0,
        "centre": 1500.0,
        "spread": 39.0,
    }


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with writing(tmp_path / "arena.db").connect() as connection:
        with connection.begin():
            create_tables(connection, schema.metadata)
        yield connection


def test_prepared_statements_are_undone_with_their_transaction(connection: Connection) -> None:
    ADD.run(connection, row("nullern"))
    connection.commit()
    ADD.run(connection, row("skat"))
    MOVE.run(connection, {"of_ladder": "nullern", "through": 2})
    MOVE.run(connection, {"of_ladder": "skat", "through": 3})
    assert READ.run(connection, {}).fetchall() == [("nullern", 2), ("skat", 3)]
    connection.rollback()
    assert READ.run(connection, {}).fetchall() == [("nullern", 1)]


def test_prepared_statements_are_in_one_transaction_with_others(connection: Connection) -> None:
    connection.execute(insert(LADDERS).values(row("nullern")))
    ADD.run(connection, row("skat"))
    connection.rollback()
    assert connection.execute(select(LADDERS)).all() == []


def test_prepared_statements_raise_errors_that_do_not_give_away_their_values(connection: Connection) -> None:
    ADD.run(connection, row("nullern"))
    with pytest.raises(IntegrityError, match=r"UNIQUE constraint failed: ladders\.ladder") as caught:
        ADD.run(connection, row("nullern"))
    assert "secret" not in str(caught.value)


def test_prepared_statements_on_a_database_without_their_table_say_so(tmp_path: Path) -> None:
    with (
        writing(tmp_path / "arena.db").connect() as connection,
        pytest.raises(OperationalError, match="no such table: ladders"),
    ):
        READ.run(connection, {})
