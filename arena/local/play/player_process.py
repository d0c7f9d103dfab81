"""A bot in its own process. Its output goes to a file, and a crash ends only that process.

python -m arena.local.play.player_process FILE.py:CLASS GAME LOG

The process answers the messages to a player. It leads its own group, so Ctrl-C does not reach it, and ends with its
parent, even if the parent is killed.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from arena.local.errors import BotNotLoaded, LocalMatchError, end_in_words
from arena.local.play.players import load
from arena.local.play.table import own_trace
from arena.processes.launch import BlockingHelper
from arena.processes.parent import Parent, when_closed
from arena.server.sessions.messages import Outgoing
from engine.registry import GAMES

TAIL: Final = 12
"""Number of lines from the end of a bot's output that an error message shows."""
GRACE: Final = 2.0
"""Maximum number of seconds for the process to end before it is killed."""


class PlayerProcess(BlockingHelper):
    """A bot that `players.load` creates in a separate process.

    The class implements `LocalPlayer`. Close the object after use.
    """

    def __init__(self, spec: str, game: str, log: Path) -> None:
        """Start the process. Its output goes to the file `log`. Raises: LocalMatchError, OSError."""
        self._spec = spec
        self._seat = 0
        self._log = log
        log.touch(mode=0o600)
        super().__init__("arena.local.play.player_process", spec, game, str(log))
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
        self.complete()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        self.kill()

    def _say(self, message: object) -> None:
        with suppress(ConnectionError):  # the process has ended; the missing answer will show this
            self.send([_pickled(message)])

    def _answer(self) -> Any:
        with suppress(ConnectionError):
            if answers := self.receive():
                return answers[0]
        lines = self._log.read_text(errors="replace").splitlines()[-TAIL:]
        last = "\n".join(f"  {line}" for line in lines)
        output = f"the end of {self._log}:\n{last}" if last else f"it wrote nothing to {self._log}"
        end = end_in_words(self.process.wait())
        raise LocalMatchError(f"{self._spec} in seat {self._seat} {end}; {output}")


class _Pickler(pickle.Pickler):
    """A pickler that calls the constructors of a message's parts. By default, pickle creates objects without calling
    constructors and sets their fields; compiled classes refuse one or the other.
    """

    def reducer_override(self, value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, (type, Outgoing)):
            return type(value), tuple([getattr(value, field.name) for field in fields(value)])
        return NotImplemented


def _pickled(message: object) -> bytes:
    content = io.BytesIO()
    _Pickler(content).dump(message)
    return content.getvalue()


@contextmanager
def parent_of_bots() -> Iterator[Parent]:
    """Connect a process with bots to its parent. When the parent ends, so do the process and its children.

    The socket is moved away from standard input so that no bot reads it.
    """
    with socket.socket(fileno=os.dup(0)) as line, suppress(ConnectionError):
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        when_closed(line.fileno(), lambda: os.killpg(0, signal.SIGKILL))
        yield Parent(line)


def main() -> None:
    """Send the bot's name and version, or the reason why it cannot be created. Then answer messages."""
    spec, game, log = sys.argv[1:]
    with parent_of_bots() as parent:
        file = os.open(log, os.O_WRONLY | os.O_APPEND)
        for standard in (1, 2):
            os.dup2(file, standard)
        try:
            player = load(spec, GAMES[game])
        except BotNotLoaded as error:
            parent.send([error])
            return
        parent.send([(player.name, player.version)])
        while messages := parent.receive():
            for message in map(pickle.loads, messages):
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
                parent.send([answers])


if __name__ == "__main__":
    main()
