"""A bot in its own process. Its output goes to a file, and a crash ends only that process.

The process answers the messages to a player. It ends with its parent, even if the parent is killed.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.local.errors import BotNotLoaded, LocalMatchError, end_in_words
from arena.local.play.players import load
from arena.local.play.table import own_trace
from arena.server.sessions.messages import Outgoing
from engine.registry import GAMES

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

TAIL: Final = 12
"""Number of lines from the end of a bot's output that an error message shows."""
GRACE: Final = 2.0
"""Maximum number of seconds for the process to end before it is killed."""


class PlayerProcess:
    """A bot that `players.load` creates in a separate process.

    The class implements `LocalPlayer`. Close the object after use.
    """

    def __init__(self, spec: str, game: str, log: Path) -> None:
        """Start the process. Its output goes to the file `log`. Raises: LocalMatchError, OSError."""
        self._spec = spec
        self._seat = 0
        self._log = log
        log.touch(mode=0o600)
        context = multiprocessing.get_context("spawn")
        self._pipe, its = context.Pipe()
        self._process = context.Process(target=_play, args=(its, spec, game, str(log)), daemon=True)
        _start_deaf(self._process)
        its.close()
        self.name, self.version = "", ""
        try:
            loaded = self._answer()
            if isinstance(loaded, LocalMatchError):
                raise loaded
            self.name, self.version = loaded
        except BaseException:
            self.close()
            raise

    def begin(self, key: bytes, seat: int) -> None:
        self._seat = seat
        self._say((key, seat))

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        """Send a message to the bot. Return its decision and action for every question in the message.

        Raises:
            LocalMatchError: the process has ended.
        """
        self._say(message)
        yield from self._answer()

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(GRACE if self._process.exitcode is None else None)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()

    def _say(self, message: object) -> None:
        with suppress(OSError):  # the process has ended; the missing answer will show this
            self._pipe.send_bytes(_pickled(message))

    def _answer(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            pass
        self._process.join()
        lines = self._log.read_text(errors="replace").splitlines()[-TAIL:]
        last = "\n".join(f"  {line}" for line in lines)
        output = f"the end of {self._log}:\n{last}" if last else f"it wrote nothing to {self._log}"
        end = end_in_words(self._process.exitcode or 0)
        raise LocalMatchError(f"{self._spec} in seat {self._seat} {end}; {output}")


class _Pickler(pickle.Pickler):
    """A pickler that calls the constructors of a message's parts. By default, pickle creates objects without them and
    sets their fields; compiled classes refuse one or the other.
    """

    def reducer_override(self, value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, (type, Outgoing)):
            return type(value), tuple([getattr(value, field.name) for field in fields(value)])
        return NotImplemented


def _pickled(message: object) -> bytes:
    content = io.BytesIO()
    _Pickler(content).dump(message)
    return content.getvalue()


def _start_deaf(process: SpawnProcess) -> None:
    """Start a process that ignores Ctrl-C from its beginning."""
    if threading.current_thread() is not threading.main_thread():
        process.start()
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, before)


def _play(pipe: Connection, spec: str, game: str, log: str) -> None:
    """Run the process: send the bot's name and version, or the reason why it cannot be created. Then answer
    messages.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this process ends
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.stdout.flush()
    sys.stderr.flush()
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(file, standard)
    try:
        player = load(spec, GAMES[game])
    except BotNotLoaded as error:
        pipe.send(error)
        return
    pipe.send((player.name, player.version))
    with suppress(EOFError):
        while True:
            message = pipe.recv()
            if isinstance(message, tuple):
                key, seat = message
                random.seed(key)  # so that the bot draws the same random numbers every time
                player.begin(key, seat)
                continue
            try:
                answers = [*player.hear(message)]
            except Exception as error:  # noqa: BLE001 - reported to the author
                sys.stderr.write(own_trace(error))
                sys.exit(1)
            pipe.send(answers)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "it was started by one"
    parent.join()
    os._exit(1)
