"""A store in PostgreSQL: the same tables, ladder and order as in SQLite, and errors that name the remedy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from traceback import format_exception
from typing import TypeAlias
from urllib.parse import urlsplit

import pytest
import trio
from sqlalchemy import Connection, func, insert, inspect, literal_column, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.log.keys import Signer
from arena.log.leaf import LeafKind
from arena.store import nodes, schema
from arena.store.backup import back_up, restore
from arena.store.base import leaves as log
from arena.store.base.directory import database_of, identity, use_server
from arena.store.base.errors import (
    LogKeyUnusable,
    NodeError,
    ServerUnusable,
    StoreBusy,
    StoreError,
    StoreNewer,
    StoreUnusable,
)
from arena.store.base.statements import Statement, database_now
from arena.store.bots import bots
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.log.audit import audit
from arena.store.log.key import open_log
from arena.store.matches import matches
from arena.store.nodes import NodeStart
from arena.store.opening import open_readonly, open_to_amend
from arena.store.postgres import engine
from arena.store.postgres.database import address_in
from arena.store.replays import replays
from arena.store.replays.files import disk_use
from arena.store.store import Store, open_store
from arena.store.writer.group_commit import Committer
from tests.postgresql import Server, defer_foreign_key, named_in
from tests.store import jobs
from tests.store.jobs import GAME, NOW, begin, finish

pytestmark = pytest.mark.process
Start: TypeAlias = "Callable[..., AbstractAsyncContextManager[Store]]"
PATIENCE = 60.0
HOLDER = text("""
SELECT pid FROM pg_locks
WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted AND objid = :key
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
""").bindparams(key=engine._DIRECTORY_LOCK & 0xFFFFFFFF)
"""The server process of the session that holds the lock of the data directory."""
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
    """Return rows of some tables, sorted by each column in both directions, and the list of bots."""
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
    """Every table, column, nullability, key, index, check and trigger exists in both."""
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


ADD_BOT = Statement(
    insert(schema.bots), "id", "name", "key", "owner", "house", "token_hash", "registered", "troubles", "forgiven"
)


def add_bot(connection: Connection, way: str, number: int) -> None:
    row = {"id": number, "name": f"b{number}", "key": f"b{number}", "owner": "", "house": 0, "registered": NOW}
    row |= {"token_hash": b"a digest of a token", "troubles": "[]", "forgiven": 0}
    if way == "sqlalchemy":
        connection.execute(insert(schema.bots).values(row))
    elif way == "statement":
        ADD_BOT.run(connection, row)
    else:
        ADD_BOT.write(connection, row)


@pytest.mark.parametrize("way", ["sqlalchemy", "statement", "later"])
def test_an_error_that_is_logged_does_not_give_away_the_violated_key(there: Path, way: str) -> None:
    with database_of(there).writing().connect() as connection:
        add_bot(connection, way, 1)
        with pytest.raises(IntegrityError, match="uq_bots_token_hash") as caught:  # noqa: PT012
            add_bot(connection, way, 2)
            database_now(connection)  # This also sends the waiting statement.
        logged = "".join(format_exception(caught.value))
        assert "violates unique constraint" in logged
        assert b"a digest".hex() not in logged
        assert "DETAIL" not in logged
        connection.rollback()
        defer_foreign_key(connection, "event_rolls")
        row = {"event_id": 987654321, "number": 0, "at": 0, "present": "", "used": 0}
        connection.execute(insert(schema.event_rolls).values(row))
        with pytest.raises(IntegrityError, match="violates foreign key") as caught:
            connection.commit()
        assert "987654321" not in "".join(format_exception(caught.value))


def test_a_job_that_fails_undoes_only_itself_though_all_run_again(there: Path) -> None:
    calls: list[int] = []

    def job(number: int, connection: Connection) -> int:
        calls.append(number)
        leaf = log.append(connection, LeafKind.PRUNE, NOW, through=number, replays=0)
        add_bot(connection, "later", 1 if number == 3 else number)
        return leaf

    database = database_of(there)
    with database.writing().connect() as connection:
        with connection.begin():
            signer = open_log(connection, there, NOW)
        committer = Committer(connection, database, partial(log.seal_added, sign=signer))
        connection.execute(text("ALTER TABLE bots DROP CONSTRAINT uq_bots_token_hash"))
        connection.commit()
        outcomes = committer.commit([partial(job, number) for number in (1, 2, 3, 4)])
        assert calls == [1, 2, 3, 4, 1, 2, 3, 4]
        assert [outcome.value for outcome in outcomes] == [2, 3, None, 4]
        assert isinstance(outcomes[2].error, IntegrityError)
        assert connection.scalars(select(schema.bots.c.id).order_by(schema.bots.c.id)).all() == [1, 2, 4]
        connection.rollback()
        (again,) = committer.commit([partial(job, 5)])
        assert again.value == 5
        head = log.head(connection)
        assert head is not None
        assert (head.size, head.root) == (5, log.root_of(connection, 5))


def test_changes_wait_for_the_next_statement_of_any_kind(there: Path) -> None:
    newest = select(func.max(schema.bots.c.id))
    with database_of(there).writing().connect() as connection:
        add_bot(connection, "later", 1001)
        assert connection.scalar(newest) == 1001
        connection.rollback()
        add_bot(connection, "later", 1002)
        assert Statement(newest).run(connection, {}).fetchone() == (1002,)
        connection.rollback()
        add_bot(connection, "later", 1003)
        connection.rollback()
        add_bot(connection, "later", 1004)
        connection.commit()
        with pytest.raises(DBAPIError):
            Statement(select(literal_column("1 / 0"))).run(connection, {})
        connection.rollback()
    with open_readonly(there) as reader:
        assert reader.scalars(select(schema.bots.c.id).where(schema.bots.c.id > 1000)).all() == [1004]


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


async def test_a_backup_is_restored_into_an_empty_database_only(tmp_path: Path, postgresql: Server) -> None:
    here, copy, new = tmp_path / "here", tmp_path / "copy", tmp_path / "new"
    await opened(here)
    with open_to_amend(here) as connection:
        results(connection, 20)
    back_up(here, copy, NOW)
    store = postgresql.address(postgresql.new_database())
    assert restore(copy, new, NOW, store=store).matches == 20
    assert {path.name for path in new.iterdir()} == {
        "arena.lock",
        "journal",
        "log.key",
        "operator.token",
        "postgresql.url",
    }
    await opened(new)
    with open_readonly(new) as connection, open_readonly(here) as own:
        for number in range(1, 21):
            assert replays.content(connection, number) == replays.content(own, number)
        assert listings(connection) == listings(own)
        assert not audit(connection).faults
        found, before = disk_use(connection, new), disk_use(own, here)
        assert found.replays == before.replays
        assert found.database > 1_000_000, "it is the size of the database on its server"
    with pytest.raises(ServerUnusable, match="it has tables already"):
        restore(copy, tmp_path / "other", NOW, store=store)
    assert not (tmp_path / "other").exists()


def test_a_session_that_its_server_ended_is_replaced_as_soon_as_it_can_be(there: Path, postgresql: Server) -> None:
    database = database_of(there)
    name = urlsplit(str(address_in(there))).path.strip("/")
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'arena'"
    with database.writing().connect() as connection:
        committer = Committer(connection, database)
        assert committer.commit([database_now])[0].error is None
        postgresql.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false", end)
        for _ in range(3):
            (lost,) = committer.commit([database_now])
            assert isinstance(lost.error, ServerUnusable)
        postgresql.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert committer.commit([database_now])[0].error is None
        committer.close()


def test_one_transaction_writes_at_a_time(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.store.postgres.engine.LOCK_TIMEOUT", 0.2)
    database = database_of(there)
    with database.writing().begin() as writer, database.writing().connect() as other:
        database_now(writer)
        tries: list[int] = []

        def job(connection: Connection) -> None:
            tries.append(database_now(connection))

        committer = Committer(other, database)
        (refused,) = committer.commit([job])
        assert isinstance(refused.error, StoreBusy)
        writer.rollback()
        (done,) = committer.commit([job])
        assert done.error is None
        assert len(tries) == 1


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


@pytest.mark.parametrize("way", ["many", "later"])
def test_a_writer_that_pauses_for_too_long_loses_its_transaction(
    there: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with open_to_amend(there) as connection:
        results(connection, 0)
    monkeypatch.setattr(engine, "_LONGEST_PAUSE", 200)
    database = database_of(there)
    with database.writing().connect() as stopped, database.writing().connect() as other:
        stopped.begin()
        if way == "many":
            change = text("UPDATE bots SET parked = NULL WHERE id = :bot")
            stopped.execute(change, [{"bot": 1}, {"bot": 2}])  # The driver's pipeline mode would disable the limit.
        else:
            add_bot(stopped, way, 1000)
            database_now(stopped)
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
    monkeypatch.setattr(engine, "HELD_EVERY", 0.05)
    async with open_store(there, NOW) as store:
        with pytest.raises(ServerUnusable, match="another data directory uses it"):
            await opened(other)
        before = await store.read(lambda connection: connection.scalar(HOLDER))
        end = text("SELECT pg_terminate_backend(:pid)").bindparams(pid=before)
        await store.read(lambda connection: connection.scalar(end))
        with trio.fail_after(PATIENCE):
            while await store.read(lambda connection: connection.scalar(HOLDER)) in {before, None}:
                await trio.sleep(0.05)
        with pytest.raises(ServerUnusable, match="another data directory uses it"):
            await opened(other)
    await opened(other)


@contextmanager
def machine(directory: Path) -> Iterator[Start]:
    """Lock the database of a directory as `arena serve --node` does. Yield a function that starts a node."""

    def start(number: int, settings: str = "", beside: tuple[int, ...] = ()) -> AbstractAsyncContextManager[Store]:
        beside = beside or (number,)
        node = NodeStart(number, f"{directory.name}:{number}", "arena 1", settings, beside, several=True)
        return open_store(directory, NOW, node=node, lock=lock)

    with database_of(directory).locked(identity=identity(directory)) as lock:
        yield start


@pytest.fixture
def elsewhere(there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of another machine, with the same database and log key."""
    monkeypatch.setattr(engine, "_LAST_SESSION", 0.2)
    directory = tmp_path / "elsewhere"
    use_server(directory, (there / "postgresql.url").read_text().strip())
    shutil.copy(there / "log.key", directory)
    return directory


async def test_servers_with_and_without_numbers_exclude_each_other(there: Path, elsewhere: Path) -> None:
    with machine(there) as one, machine(elsewhere) as two:
        async with one(1), two(2):
            pass
        with pytest.raises(StoreError, match="is in use by"), machine(there):
            pass
    with machine(there):
        with pytest.raises(ServerUnusable, match="stop that server first, or give each a number with --node"):
            await opened(elsewhere)
        shutil.copy(there / "node.id", elsewhere)
        with pytest.raises(ServerUnusable, match="a copy of this data directory"), machine(elsewhere):
            pass
    async with open_store(there, NOW):
        with pytest.raises(ServerUnusable, match="a server without --node uses it"), machine(elsewhere):
            pass


async def test_what_is_wrong_with_another_machine_is_named(there: Path, elsewhere: Path) -> None:
    key = (there / "log.key").read_bytes()
    with machine(there) as one, machine(elsewhere) as two:
        async with one(1, "seats:4"):
            with pytest.raises(NodeError, match="node 1 is the server at there:1"):
                await entered(two(1, "seats:4"))
            with pytest.raises(NodeError, match=r"node 1 has other settings than this server \(seats\)"):
                await entered(two(2, "seats:3"))
            (elsewhere / "log.key").write_bytes(Signer.new().pem())
            with pytest.raises(
                LogKeyUnusable, match=r"of another log; put the right one back, from .* another machine"
            ):
                await entered(two(2, "seats:4"))
            (elsewhere / "log.key").unlink()
            with pytest.raises(StoreError, match="from the first machine of several"):
                await entered(two(2, "seats:4"))
            (elsewhere / "log.key").write_bytes(key)
            await entered(two(2, "seats:4"))
        with database_of(there).writing().begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '0017'"))
        with pytest.raises(NodeError, match=r"an older arena .schema 0017., which other servers use now; stop them"):
            await entered(two(2))
        with database_of(there).writing().begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(StoreNewer):
            await entered(two(2))


async def test_a_directory_takes_up_only_its_own_journals(there: Path, elsewhere: Path) -> None:
    with machine(there) as one:
        async with one(1, beside=(1, 2)), one(2, beside=(1, 2)) as store:
            players = await store.write(lambda connection: jobs.add_bots(connection, "Ada", "Bob"))
            left = await store.write(lambda connection: begin(connection, players, node=2))
            assert store.lease is not None
            await store.write(partial(nodes.release, lease=store.lease))
        with machine(elsewhere) as two:
            async with two(2) as other, one(1):
                assert [*other.lost] == [left], "whoever takes a number takes its matches, and has no journal of them"
                own = await other.write(lambda connection: begin(connection, players, node=2))
                assert other.lease is not None
                assert await other.write(partial(nodes.renew, lease=other.lease)), "node 1 did not end it"
                assert await other.read(partial(matches.playing, node=2)) == (own,)


async def entered(opening: AbstractAsyncContextManager[Store]) -> None:
    async with opening:
        pass


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
