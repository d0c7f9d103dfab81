"""Creation of the tables in SQLite: strict, and with triggers that protect append-only tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, MetaData, Table

from arena.store.schema import APPEND_ONLY, AppendOnly


def create_tables(connection: Connection, metadata: MetaData) -> None:
    """Create the tables in an empty database, with the SQL text that migrations lead to."""
    for table in metadata.sorted_tables:
        table.dialect_options["sqlite"]["strict"] = True
    metadata.create_all(connection)
    for table in metadata.sorted_tables:
        for trigger in _triggers(table):
            connection.exec_driver_sql(trigger)


def _triggers(table: Table) -> Iterator[str]:
    guard: AppendOnly | None = table.info.get(APPEND_ONLY)
    if guard is None:
        return
    name, (number, within) = table.name, guard
    only_added = f"BEGIN SELECT RAISE(ABORT, '{name} are only added'); END"
    yield f"CREATE TRIGGER {name}_stay BEFORE UPDATE ON {name} {only_added}"
    yield f"CREATE TRIGGER {name}_remain BEFORE DELETE ON {name} {only_added}"
    alike = f" WHERE {within} = NEW.{within}" if within else ""
    yield (
        f"CREATE TRIGGER {name}_follow BEFORE INSERT ON {name} WHEN NEW.{number} <>"  # noqa: S608 - the schema's names
        f" (SELECT coalesce(max({number}), 0) + 1 FROM {name}{alike})"
        f" BEGIN SELECT RAISE(ABORT, '{name} are numbered without a gap'); END"
    )
