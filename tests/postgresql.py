"""A real PostgreSQL server in a temporary folder, and data directories whose database is there."""

from __future__ import annotations

import itertools
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import Connection, TextClause, inspect, text

from arena.store.base.directory import use_server

_USERS: Final = ("postgres", "nobody")
"""Users as which the server runs where the tests run as root, whom it refuses."""
_QUICK: Final = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60", "jit=off")
_numbers: Final = itertools.count(1)


def programs() -> Path | None:
    """Return the folder of the server's programs, which Debian does not put on the path."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    if found := shutil.which("initdb"):
        folders.append(Path(found).parent)
    return next((each for each in folders if (each / "initdb").exists() and (each / "postgres").exists()), None)


class Server:
    """A running server."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    def address(self, database: str) -> str:
        return f"postgresql://arena:swordfish@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str) -> list[tuple[object, ...]]:
        """Run statements as the administrator; return the rows of the last."""
        import psycopg

        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self, template: str = "template0") -> str:
        """Create a database and return its name. Its own order of texts is not by bytes."""
        name = f"arena_{next(_numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name


@contextmanager
def server(*settings: str) -> Iterator[Server]:
    """Run a server in a temporary folder. Skips the test if PostgreSQL is missing, but never in CI."""
    bin_folder = programs()
    if bin_folder is None:
        reason = "PostgreSQL IS MISSING: tools/debian-packages.sh installs it"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        print(f"\n{reason}; its tests do not run", file=sys.stderr)
        pytest.skip(reason)
    as_user: list[str | Path] = []
    with tempfile.TemporaryDirectory(prefix="pg-") as made:
        folder = Path(made)
        if os.geteuid() == 0:
            user = next(each for each in _USERS if each in {entry.pw_name for entry in pwd.getpwall()})
            as_user = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        (folder / "password").write_text("swordfish\n")
        (folder / "password").chmod(0o644)
        collation = ["--locale=C.UTF-8", "--encoding=UTF8", "--no-sync", "--auth=scram-sha-256"]
        own: list[str | Path] = ["-D", folder / "data", "--username=arena", f"--pwfile={folder / 'password'}"]
        subprocess.run([*as_user, bin_folder / "initdb", *own, *collation], check=True, capture_output=True, cwd=folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = [f"-c{each}" for each in (*_QUICK, *settings, f"port={port}", f"unix_socket_directories={folder}")]
        command = [*as_user, bin_folder / "postgres", "-D", folder / "data", *options, "-clisten_addresses=127.0.0.1"]
        log = (folder / "log").open("w")
        with log, subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as process:
            try:
                ready: list[str | Path] = [bin_folder / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
                for _ in range(200):
                    if subprocess.run(ready, check=False).returncode == 0:
                        break
                    assert process.poll() is None, (folder / "log").read_text()
                yield Server(folder, port)
            finally:
                process.send_signal(3)  # SIGQUIT: at once
                process.wait()


def named_in(directory: Path, server: Server, template: str = "template0") -> Path:
    """Let a data directory use a new database of a server."""
    use_server(directory, server.address(server.new_database(template)))
    return directory


def defer_foreign_key(connection: Connection, table: str) -> None:
    """Let only the commit check the foreign key of a table, until the end of the transaction."""
    statement = "PRAGMA defer_foreign_keys = ON"
    if connection.dialect.name == "postgresql":
        (key,) = (each["name"] for each in inspect(connection).get_foreign_keys(table))
        statement = f"ALTER TABLE {table} ALTER CONSTRAINT {key} DEFERRABLE INITIALLY DEFERRED"
    connection.execute(text(statement))


def in_words_of(connection: Connection, statement: str) -> TextClause:
    """Translate a statement of SQLite to the dialect of a connection."""
    if connection.dialect.name == "postgresql":
        statement = re.sub(r"DROP TRIGGER (\w+)_(stay|remain)$", r"DROP TRIGGER \1_\2 ON \1", statement)
        statement = re.sub(r"zeroblob\((\d+)\)", r"decode(repeat('00', \1), 'hex')", statement)
        statement = re.sub(r"x'([0-9a-f]*)'", r"decode('\1', 'hex')", statement)
    return text(statement)
