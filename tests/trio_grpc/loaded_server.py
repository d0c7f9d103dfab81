"""A server process with two clients, and checks that an attack harms neither the server nor the clients."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import grpc

from tests.trio_grpc.echo import Item, Stub
from tests.waiting import until

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = Path(__file__).with_name("loaded_server_program.py")
MIB: Final = 1 << 20
MAX_GROWTH: Final = 24 * MIB
"""Maximum number of bytes by which one attack may raise the peak of the server's memory."""
TOKEN: Final = ("authorization", "Bearer token")
PAUSE: Final = 0.005
"""Seconds between a client's answer and its next message."""


class Server:
    """An echo server in its own process."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self._log = log
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()
        assert self.address, f"the server did not start: {self.log}"

    def __repr__(self) -> str:
        return (
            f"<Server {self.address} pid {self.process.pid} status {self.process.poll()}; its log: {self.log[-500:]}>"
        )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def memory(self, kind: str = "VmRSS") -> int:
        """Return the resident memory in bytes, or its maximum so far with "VmHWM"."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(kind):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {kind}")


@contextmanager
def server(folder: Path, *credentials: Path) -> Iterator[Server]:
    """Run an echo server during the `with` block. It logs to a file in this folder."""
    log = folder / "server.log"
    words = [sys.executable, str(PROGRAM), *map(str, credentials)]
    with log.open("w") as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT)
    with process:
        try:
            yield Server(process, log)
        finally:
            process.kill()


class Talker:
    """A client that sends the next number as soon as the previous one is echoed."""

    def __init__(self, address: str) -> None:
        self.answered = 0
        self.end: Exception | None = None
        self._said: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self._thread = threading.Thread(target=self._talk)

    def __repr__(self) -> str:
        return f"<Talker with {self.answered} answers, end {self.end!r}>"

    def __enter__(self) -> Talker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._said.put(None)
        self._channel.close()

    def _talk(self) -> None:
        answers: Any = Stub(self._channel).Say(iter(self._said.get, None), metadata=(TOKEN,))
        try:
            for number in count(1):
                self._said.put(Item(number=number))
                assert next(answers).number == number
                self.answered = number
                if self._over.wait(PAUSE):
                    return
        except Exception as error:  # noqa: BLE001 - whatever it is, a test fails with it
            self.end = error


class LoadedServer:
    """The server and its two clients."""

    def __init__(self, server: Server, talkers: tuple[Talker, ...]) -> None:
        self.server = server
        self.address = server.address
        self._talkers = talkers

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator[LoadedServer]:
        """Run a server during the `with` block, with two conversations in progress."""
        with server(folder) as running, ExitStack() as stack:
            talkers = tuple(stack.enter_context(Talker(running.address)) for _ in range(2))
            loaded_server = cls(running, talkers)
            loaded_server.talk_on()
            yield loaded_server

    def __repr__(self) -> str:
        return f"<LoadedServer {self.server}, with {self._talkers}>"

    def talk_on(self, answers: int = 20) -> None:
        """Wait until each client has this many more answers."""
        for talker in self._talkers:
            until(partial(_reached, talker, talker.answered + answers), "the conversation to go on")
            assert talker.end is None, talker.end

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Fail if the `with` block costs the server more memory than `MAX_GROWTH`, causes an error in it, or ends a
        client's conversation.
        """
        before, peak = self.server.memory(), self.server.memory("VmHWM")
        self.talk_on(1)
        yield
        self.talk_on()
        assert self.server.process.poll() is None
        grown = self.server.memory("VmHWM")
        assert grown <= max(peak, before + MAX_GROWTH), f"grew by {(grown - before) / MIB:.0f} MiB"
        assert "Traceback" not in self.server.log


def _reached(talker: Talker, goal: int) -> bool:
    return talker.answered >= goal or talker.end is not None
