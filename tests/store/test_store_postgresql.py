"""A store in PostgreSQL: the same tables, ladder and order as in SQLite, and errors that name the remedy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import trio
from sqlalchemy import Connection, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store import schema
from arena.store.backup import back_up
from arena.store.base.directory import database_of, use_server
from arena.store.base.errors import ServerUnusable, StoreBusy, StoreError, StoreUnusable
from arena.store.base.statements import database_now
from arena.store.bots import bots
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.opening import open_readonly, open_to_amend
from arena.store.postgres import engine
from arena.store.replays import replays
from arena.store.store import open_store
from arena.store.writer.group_commit import Committer
from tests.postgresql import Server, named_in
from tests.store.jobs import GAME, NOW, begin, finish

pytestmark = pytest.mark.process
NAMES = ("Zoe", "anna", "Änne", "a-b", "ab", "Ab", "Öko-Bot", "bot_9", "bot-10", "ß")


@pytest.fixture
def there(tmp_path: Path, postgresql: Server) -> Path:
    """A data directory with a new store in PostgreSQL."""
    directory = named_in(tmp_path / "there", postgresql)
    trio.run(opened, directory)
    return directory


async def opened(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass


async def opened_at(directory: Path, address: str) -> None:
    use_server(directory, address)
    await opened(directory)


def results(connection: Connection, count: int) -> None:
    """Register bots and store results, the same on every call."""
    chance = Random(38)
    players = [bots.register(connection, f"b{number}", f"o-{number}", NOW).bot.id for number in range(len(NAMES))]
    for bot, name in zip(players, NAMES, strict=True):
        change = schema.bots.update().where(schema.bots.c.id == bot)
        connection.execute(change.values(name=name, owner=f"o-{name}"))
    for number in range(count):
        seated = chance.sample(players, 4)
        match_id = begin(connection, seated)
        finish(connection, match_id, chance.sample(range(1, 5), 4), NOW + 1 + number)


def listings(connection: Connection) -> list[object]:
    """Return rows of every table in the order of each of its columns, and the lists that people see."""
    found: list[object] = []
    for table in (schema.bots, schema.names, schema.matches, schema.match_seats, schema.ratings, schema.rated_results):
        secret = {"token_hash"}
        shown = [column for column in table.c if column.name not in secret]
        for column in shown:
            for order in (column, column.desc()):
                rows = connection.execute(select(*shown).order_by(order, *table.primary_key).limit(40))
                found.append([tuple(row) for row in rows])
    return [*found, *bots.list_bots(connection)]


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.long)])
async def test_the_ladder_of_the_same_results_is_the_same_bit_for_bit(there: Path, tmp_path: Path, count: int) -> None:
    await opened(tmp_path / "here")
    digests, lists, kinds = set(), [], []
    for directory in (there, tmp_path / "here"):
        with open_to_amend(directory) as connection:
            results(connection, count)
            digests.add(rebuild(connection, GAME, NOW + 5000).recomputed)
        with open_readonly(directory) as connection:
            assert not verify(connection, GAME).differences
            lists.append(listings(connection))
            kinds.append([[type(value) for value in row] for row in connection.execute(select(schema.standings))])
    assert len(digests) == 1
    assert lists[0] == lists[1]
    assert kinds[0] == kinds[1]


def test_both_engines_have_the_same_tables(there: Path, data: Path) -> None:
    """Every table, column, nullability, key, index, check and trigger is on both."""
    found = []
    for directory in (there, data):
        with open_readonly(directory) as connection:
            tables = {}
            look = inspect(connection)
            for name in sorted(look.get_table_names()):
                columns = {each["name"]: each["nullable"] for each in look.get_columns(name)}
                indexes = look.get_indexes(name)
                unique = {tuple(each["column_names"]) for each in look.get_unique_constraints(name)}
                keys = look.get_pk_constraint(name)["constrained_columns"]
                foreign = {
                    (*each["constrained_columns"], each["referred_table"]) for each in look.get_foreign_keys(name)
                }
                checks = {each["name"] for each in look.get_check_constraints(name)}
                plain = {(each["name"], *each["column_names"]) for each in indexes if "uq_" not in str(each["name"])}
                tables[name] = (columns, plain, unique, keys, foreign, checks)
            found.append(tables)
    assert found[0] == found[1]


def test_rows_are_only_added_and_numbered_without_a_gap(there: Path) -> None:
    for change, why in (
        (text("UPDATE log SET leaf = ''"), "only added"),
        (text("DELETE FROM log"), "only added"),
        (text("TRUNCATE log"), "only added"),
        (insert(schema.log).values(number=7, kind="key", leaf="", nodes=b""), "without a gap"),
    ):
        with pytest.raises(IntegrityError, match=why), open_to_amend(there) as connection:
            connection.execute(change)


def test_texts_sort_by_bytes_and_nulls_come_first(there: Path) -> None:
    with open_to_amend(there) as connection:
        results(connection, 0)
        names = list(connection.scalars(select(schema.bots.c.name).order_by(schema.bots.c.name)))
        connection.execute(schema.bots.update().where(schema.bots.c.id == 3).values(parked=5))
        parked = list(connection.scalars(select(schema.bots.c.parked).order_by(schema.bots.c.parked)))
    assert names == sorted(NAMES)
    assert parked == [*[None] * (len(NAMES) - 1), 5]


def test_a_backup_is_a_directory_that_needs_no_server(there: Path, tmp_path: Path) -> None:
    with open_to_amend(there) as connection:
        results(connection, 20)
        packed = [replays.content(connection, number) for number in range(1, 21)]
    made = back_up(there, tmp_path / "copy", NOW)
    assert made.matches == made.replays == 20
    assert not (tmp_path / "copy" / "postgresql.url").exists()
    with open_readonly(tmp_path / "copy") as connection, open_readonly(there) as own:
        assert [replays.content(connection, number) for number in range(1, 21)] == packed
        assert listings(connection) == listings(own)


def test_a_session_that_its_server_ended_is_replaced(there: Path, postgresql: Server) -> None:
    database = database_of(there)
    with database.writing().connect() as connection:
        committer = Committer(connection, database)
        assert committer.commit([database_now])[0].error is None
        postgresql.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'arena'")
        (lost,) = committer.commit([database_now])
        assert isinstance(lost.error, ServerUnusable)
        assert committer.commit([database_now])[0].error is None
        committer.close()


def test_one_transaction_writes_at_a_time(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.store.postgres.engine.LOCK_TIMEOUT", 0.2)
    database = database_of(there)
    with database.writing().begin(), pytest.raises(DBAPIError) as waited, database.writing().begin():
        pass
    assert isinstance(database.named(waited.value), StoreBusy)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("swordfish", "pike"), "the password is wrong"),
        (("/arena_", "/no_"), "there is no such database"),
        (("127.0.0.1", "127.0.0.2"), "cannot be reached"),
        (("postgresql:", "mysql:"), "write postgresql://"),
    ],
)
async def test_what_is_wrong_with_an_address_is_named(
    tmp_path: Path, postgresql: Server, change: tuple[str, str], why: str
) -> None:
    directory, address = tmp_path / "bad", postgresql.address(postgresql.new_database()).replace(*change)
    with pytest.raises(StoreError, match=why) as refused:
        await opened_at(directory, address)
    assert "swordfish" not in str(refused.value)
    assert "pike" not in str(refused.value)


async def test_a_database_of_another_program_is_refused(there: Path) -> None:
    with database_of(there).writing().begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
    with pytest.raises(StoreError, match="it has the tables"):
        await opened(there)


def test_a_writer_that_pauses_for_too_long_loses_its_transaction(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_LONGEST_PAUSE", 200)
    database = database_of(there)
    with database.writing().connect() as stopped, database.writing().connect() as other:
        stopped.begin()
        with other.begin():
            assert other.execute(text("SELECT 1")).scalar() == 1
        with pytest.raises(DBAPIError) as ended:
            stopped.execute(text("SELECT 1"))
    assert "stopped for longer" in str(database.named(ended.value))


async def test_a_database_has_one_data_directory_at_a_time(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_LAST_SESSION", 0.2)
    other = tmp_path / "other"
    shutil.copytree(there, other, ignore=shutil.ignore_patterns("*.lock"))
    async with open_store(there, NOW):
        with pytest.raises(ServerUnusable, match="another data directory uses it"):
            await opened(other)
    await opened(other)


async def test_a_directory_with_results_of_its_own_is_not_given_another_store(data: Path, postgresql: Server) -> None:
    if not (data / "postgresql.url").exists():
        with pytest.raises(StoreUnusable, match="results of its own"):
            named_in(data, postgresql)


def test_only_a_store_in_postgresql_needs_the_driver(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path; import trio; from arena.store.store import open_store\n"
        "from arena.store.base.directory import use_server\n"
        "async def start(name):\n"
        "    async with open_store(Path(sys.argv[1]) / name, 1): print('started')\n"
        "trio.run(start, 'own'); use_server(Path(sys.argv[1]) / 'there', 'postgresql://a@127.0.0.1:1/b')\n"
        "try: trio.run(start, 'there')\n"
        "except Exception as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False)
    assert run.stdout.splitlines() == [
        "started",
        "a store in PostgreSQL needs psycopg: pip install 'psycopg[binary]>=3.2'",
    ], run.stderr
