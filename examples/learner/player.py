"""Self-play in a separate process, so that one core plays while the other learns."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from network import Weights
from selfplay import Batch, play


class PlayerDiedError(RuntimeError):
    """Raised if the playing process has ended unexpectedly."""


class Player:
    """Plays the requested matches: in this process when they are fetched, or beforehand in a separate process. Close
    the player at the end.
    """

    def __init__(self, games: int, seats: int, *, beside: bool) -> None:
        """Create a player. `beside`: play in a separate process, which ends whenever this one does."""
        self._table = games, seats
        self._asked: list[tuple[Weights, int]] = []
        self._pipe: Connection | None = None
        if beside:
            context = multiprocessing.get_context("spawn")
            self._pipe, its = context.Pipe()
            self._process = context.Process(target=_serve, args=(its, games, seats), daemon=True)
            self._process.start()
            its.close()

    def ask(self, weights: Weights, seed: int) -> None:
        """Request matches. The caller may change the weights after this call."""
        if self._pipe is None:
            self._asked.append(([each.copy() for each in weights], seed))
            return
        try:
            self._pipe.send((weights, seed))
        except OSError as error:
            raise self._died() from error

    def fetch(self) -> Batch:
        """Return the oldest requested batch.

        Raises: PlayerDiedError.
        """
        if self._pipe is None:
            weights, seed = self._asked.pop(0)
            return play(weights, seed, *self._table)
        try:
            found: Batch = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        return found

    def close(self) -> None:
        """End the separate process."""
        if self._pipe is not None:
            self._pipe.close()
            self._process.terminate()
            self._process.join()

    def _died(self) -> PlayerDiedError:
        self._process.join(5)
        return PlayerDiedError(
            f"the process that plays ended with status {self._process.exitcode}: start again to go on"
        )


def _serve(pipe: Connection, games: int, seats: int) -> None:
    """Play the requested matches until the other end of the pipe is closed.

    A thread receives requests, because the parent may send a request while this process sends a batch, and both are
    larger than the pipe's buffer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this process ends
    asked: SimpleQueue[tuple[Weights, int] | None] = SimpleQueue()
    Thread(target=_listen, args=(pipe, asked), daemon=True).start()
    while (each := asked.get()) is not None:
        try:
            pipe.send(play(*each, games, seats))
        except (BrokenPipeError, ConnectionResetError):
            return


def _listen(pipe: Connection, asked: SimpleQueue[tuple[Weights, int] | None]) -> None:
    try:
        while True:
            asked.put(pipe.recv())
    except (EOFError, ConnectionResetError):
        asked.put(None)
