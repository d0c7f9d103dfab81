"""A real PostgreSQL server in a temporary folder, and data directories whose database is there."""

from __future__ import annotations

import itertools
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import Connection, TextClause, inspect, text

from arena.store.base.directory import use_server
from tests.waiting import until

_USERS: Final = ("postgres", "nobody")
"""Users to choose from if the tests run as root, because PostgreSQL refuses to run as root."""
_QUICK: Final = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60", "jit=off")
LOOPBACK: Final = "127.0.0.1"
_numbers: Final = itertools.count(1)


def programs() -> Path | None:
    """Return the folder of the server's programs, which Debian does not put on the path."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    if found := shutil.which("initdb"):
        folders.append(Path(found).parent)
    return next((each for each in folders if (each / "initdb").exists() and (each / "postgres").exists()), None)


class Server:
    """A server in a folder of its own."""

    def __init__(self, folder: Path, port: int, as_user: list[str | Path], bin_folder: Path, host: str) -> None:
        self.folder, self.port, self.host = folder, port, host
        self._as_user, self._programs = as_user, bin_folder
        self._process: subprocess.Popen[bytes] | None = None

    def address(self, database: str) -> str:
        return f"postgresql://arena:swordfish@{self.host}:{self.port}/{database}"

    def call(self, program: str, *arguments: str | Path) -> None:
        """Run one of the server's programs to its end."""
        command = [*self._as_user, self._programs / program, *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)

    def start(self, *settings: str) -> None:
        """Run the server, and wait until it answers."""
        own = (*_QUICK, *settings, f"port={self.port}", f"unix_socket_directories={self.folder}")
        options = [f"-c{each}" for each in (*own, f"listen_addresses={self.host}")]
        command = [*self._as_user, self._programs / "postgres", "-D", self.folder / "data", *options]
        with (self.folder / "log").open("a") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        ready: list[str | Path] = [self._programs / "pg_isready", "-q", "-h", self.host, "-p", str(self.port)]
        for _ in range(200):
            if subprocess.run(ready, check=False).returncode == 0:
                break
            assert self._process.poll() is None, (self.folder / "log").read_text()

    def stop(self) -> None:
        """End the server at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill the server with all its processes."""
        assert self._process is not None
        for pid in (self._process.pid, *children_of(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def run(self, *statements: str) -> list[tuple[object, ...]]:
        """Run statements as the administrator; return the rows of the last."""
        import psycopg

        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self, template: str = "template0") -> str:
        """Create a database and return its name."""
        name = f"arena_{next(_numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name


def children_of(pid: int) -> list[int]:
    """Return the child processes of a process."""
    return [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@contextmanager
def server(*settings: str, host: str = LOOPBACK, within: Sequence[str] = ()) -> Iterator[Server]:
    """Run a server in a temporary folder. Skips the test if PostgreSQL is missing, but never in CI.

    `within`: words before each command, so that it runs where the server has the address `host`.
    """
    with _new_server(host, within) as made:
        (made.folder / "password").write_text("swordfish\n")
        (made.folder / "password").chmod(0o644)
        collation = ["--locale=C.UTF-8", "--encoding=UTF8", "--no-sync", "--auth=scram-sha-256"]
        own = ["--username=arena", f"--pwfile={made.folder / 'password'}"]
        made.call("initdb", "-D", made.folder / "data", *own, *collation)
        if host != LOOPBACK:
            with (made.folder / "data" / "pg_hba.conf").open("a") as access:
                access.write("host all,replication all samenet scram-sha-256\n")
        made.start(*settings)
        yield made


@contextmanager
def _new_server(host: str, within: Sequence[str]) -> Iterator[Server]:
    """Yield a server that has no data and is not running yet. Stop it at the end."""
    bin_folder = programs()
    if bin_folder is None:
        reason = "PostgreSQL IS MISSING: tools/debian-packages.sh installs it"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        print(f"\n{reason}; its tests do not run", file=sys.stderr)
        pytest.skip(reason)
    as_user: list[str | Path] = [*within]
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            user = next(each for each in _USERS if each in {entry.pw_name for entry in pwd.getpwall()})
            as_user += ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        made = Server(folder, free_port(), as_user, bin_folder, host)
        try:
            yield made
        finally:
            made.stop()


class Pair:
    """A primary and its standby, which is synchronous if results must survive the primary's death."""

    def __init__(self, primary: Server, standby: Server, synchronous: bool) -> None:
        self.primary, self.standby = primary, standby
        self._synchronous = synchronous

    def address(self, database: str) -> str:
        """Return the address of whichever of the two is the primary."""
        hosts = ",".join(f"{each.host}:{each.port}" for each in (self.primary, self.standby))
        return f"postgresql://arena:swordfish@{hosts}/{database}?target_session_attrs=read-write"

    def follow(self) -> None:
        """Create the standby again from the primary. Wait until it has all data."""
        shutil.rmtree(self.standby.folder / "data", ignore_errors=True)
        place = f"host={self.primary.host} port={self.primary.port}"
        of = f"{place} user=arena password=swordfish application_name=standby"
        target = self.standby.folder / "data"
        self.standby.call("pg_basebackup", "-D", target, "-R", "-d", of, "--checkpoint=fast", "--no-sync")
        self.standby.start()
        if self._synchronous:
            self.primary.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
        ready = (
            "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' "
            f"AND sync_state = '{'sync' if self._synchronous else 'async'}' AND flush_lsn >= pg_current_wal_flush_lsn()"
        )
        until(lambda: self.primary.run(ready) == [(1,)], "a standby that follows")

    def lose_primary(self) -> None:
        """Kill the primary with all its processes."""
        self.primary.kill()

    def promote(self) -> None:
        """Promote the standby, which then waits for no standby of its own until `follow`."""
        self.primary, self.standby = self.standby, self.primary
        self.primary.run("SELECT pg_promote()")
        self.primary.run("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")


_HERE: Final[tuple[str, Sequence[str]]] = (LOOPBACK, ())


@contextmanager
def pair(
    synchronous: bool, primary_at: tuple[str, Sequence[str]] = _HERE, standby_at: tuple[str, Sequence[str]] = _HERE
) -> Iterator[Pair]:
    """Run a primary with a standby. Without `synchronous`, commits wait for neither disk nor standby.

    `primary_at`, `standby_at`: address of each, and the words before each command that is to run there.
    """
    commit = "on" if synchronous else "off"
    host, within = primary_at
    first = server(f"synchronous_commit={commit}", host=host, within=within)
    with first as primary, _new_server(*standby_at) as standby:
        made = Pair(primary, standby, synchronous)
        made.follow()
        yield made


def named_in(directory: Path, server: Server, template: str = "template0") -> Path:
    """Make a data directory use a new database on a server."""
    use_server(directory, server.address(server.new_database(template)))
    return directory


def defer_foreign_key(connection: Connection, table: str) -> None:
    """Defer the check of a table's foreign key to the commit of this transaction."""
    statement = "PRAGMA defer_foreign_keys = ON"
    if connection.dialect.name == "postgresql":
        (key,) = (each["name"] for each in inspect(connection).get_foreign_keys(table))
        statement = f"ALTER TABLE {table} ALTER CONSTRAINT {key} DEFERRABLE INITIALLY DEFERRED"
    connection.execute(text(statement))


def in_words_of(connection: Connection, statement: str) -> TextClause:
    """Translate an SQLite statement into the dialect of a connection."""
    if connection.dialect.name == "postgresql":
        statement = re.sub(r"DROP TRIGGER (\w+)_(stay|remain)$", r"DROP TRIGGER \1_\2 ON \1", statement)
        statement = re.sub(r"zeroblob\((\d+)\)", r"decode(repeat('00', \1), 'hex')", statement)
        statement = re.sub(r"x'([0-9a-f]*)'", r"decode('\1', 'hex')", statement)
    return text(statement)
