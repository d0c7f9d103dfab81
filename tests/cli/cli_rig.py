"""Real servers, bots and terminals for tests of the `arena` command. Every wait is bounded."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import structlog
from click.testing import CliRunner, Result

from arena.cli.main import main

PATIENCE = 180.0
"""Maximum number of seconds for any wait. Only a failing test waits that long."""
ARENA = (sys.executable, "-m", "arena.cli")
BOTS = {"random": "random_bot", "rules": "rule_bot", "counter": "counter_bot"}


class Played(NamedTuple):
    """A running server with a few finished matches."""

    server: str
    data: Path
    pid: int


def arena(*arguments: object, env: Mapping[str, str | None] | None = None) -> Result:
    """Run the command in this process with an output that is not a terminal."""
    clean = {"ARENA_SERVER": None, "ARENA_DATA": None, "COLUMNS": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}
    try:
        return CliRunner().invoke(main, [str(word) for word in arguments], env={**clean, **(env or {})})
    finally:
        # `serve` leaves its log handler installed, which would hide log lines from later tests
        structlog.reset_defaults()


def shown(*arguments: object, env: Mapping[str, str | None] | None = None) -> str:
    """Return the output of a command that must succeed."""
    result = arena(*arguments, env=env)
    assert result.exit_code == 0, result.output
    return result.stdout


@contextmanager
def serving(data: Path, *options: str) -> Iterator[Played]:
    """Start a new server on any free port."""
    command = [*ARENA, "serve", "--address", "127.0.0.1:0", "--data", str(data), "--quiet", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            assert select.select([server.stdout], [], [], PATIENCE)[0], "the server says nothing"
            line = server.stdout.readline().decode()
            found = re.match(r"Arena listens on (\S+:\d+),", line)
            assert found, line
            yield Played(found[1], data, server.pid)
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                server.kill()


def let_play(
    server: str, tokens: Path, matches: int, bots: Sequence[str] = tuple(BOTS), game: str = "sixth_sense"
) -> None:
    """Run sample bots that play matches of a game until the given number has ended."""
    programs = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", f"arena_client.samples.{BOTS[name]}", "--quiet", "--server", server),
                *("--name", name, "--token-file", str(tokens / f"{name}.token")),
                *("--matches", str(matches), "--capacity", "1", "--game", game),
            ]
        )
        for name in bots
    ]
    try:
        assert [program.wait(PATIENCE) for program in programs] == [0] * len(bots)
    finally:
        for program in programs:
            program.kill()
            program.wait()


def processes_of(path: Path) -> list[str]:
    """Return the processes whose command line contains a path."""
    listed = subprocess.run(["ps", "-axwwo", "pid=,stat=,command="], check=True, capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if str(path) in line]


class Terminal:
    """A command in its own terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.text = ""
        """The whole output of the command so far."""
        self._master = master
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")

    def __repr__(self) -> str:
        return f"<Terminal of pid {self.process.pid}, status {self.process.poll()}, shows {plain(self.text)[-500:]!r}>"

    def expect(self, words: str) -> str:
        """Read until the command has written these words since the last call. Return the text read, without colours."""
        fresh = ""
        while words not in plain(fresh):
            piece = self._read()
            assert piece, f"it ended without {words!r}: {plain(fresh)}"
            fresh += piece
        return plain(fresh)

    def more(self) -> str:
        """Read the next output, however short. Return an empty text at its end."""
        return self._read()

    def press(self, keys: str) -> None:
        """Send keystrokes to the command."""
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Read to the end of the output. Return the exit status."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> str:
        """Read the next output in whole characters, because a read may split a character. Return an empty text at its
        end.
        """
        piece = ""
        while not piece:
            assert select.select([self._master], [], [], PATIENCE)[0], f"it is silent after: {plain(self.text)}"
            try:
                written = os.read(self._master, 65536)
            except OSError:  # Linux raises this error when the other end is closed
                return ""
            if not written:
                return ""
            piece = self._decoder.decode(written)
        self.text += piece
        return piece


@contextmanager
def terminal(*arguments: object, rows: int = 40, columns: int = 100) -> Iterator[Terminal]:
    """Start the command in a terminal of the given size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    # in its own session the command controls the terminal, so it receives Ctrl-C
    take = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", take, *ARENA, *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**env, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def plain(text: str) -> str:
    """Return text without escape sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
