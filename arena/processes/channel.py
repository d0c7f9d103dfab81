"""The parent's end of the socket to a helper process, for trio. Sending never waits."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import trio

from arena.processes.frames import PIECE, Frames, FrameTooLarge, packed

LOOK: Final = 1.0
"""Seconds between checks for a silent helper. Such checks cost far less than a timer for each message."""


class Channel:
    """The parent's end of a socket. The helper's end is `Parent`."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line: Final = line
        self._frames: Final = Frames()
        self._unsent: Final = bytearray()
        """Bytes that the socket has not accepted yet; `_send_rest` sends them."""
        self._nursery: trio.Nursery | None = None
        self._complete = False
        """True if the caller will send nothing more."""
        self._last_active = trio.current_time()
        """Time of the last sending or receiving, by trio's clock."""

    def send(self, message: object) -> None:
        """Send a message with one system call. `run` sends the bytes that the socket does not accept at once.

        The message is lost if the helper has ended.

        Raises:
            FrameTooLarge: the message is too large.
        """
        frame = packed(message)
        self._last_active = trio.current_time()
        if not self._unsent:
            frame = frame[self._send_now(frame) :]
            if not frame:
                return  # The usual case.
            if self._nursery is not None:
                self._nursery.start_soon(self._send_rest)
        self._unsent.extend(frame)

    def complete(self) -> None:
        """Shut down the sending direction after everything sent so far, so that the helper reads the end."""
        self._complete = True
        if not self._unsent:
            self._shut()

    async def receive(self) -> list[Any]:
        """Wait for the next messages and return them. Return an empty list if the helper has ended.

        Raises:
            FrameTooLarge: the bytes are not frames.
        """
        while True:
            await trio.lowlevel.wait_readable(self._line)
            try:
                piece = self._line.recv(PIECE)
            except ConnectionError:
                return []  # The helper ended without reading all messages.
            if not piece:
                return []
            self._last_active = trio.current_time()
            if messages := self._frames.take(piece):
                return messages

    async def run(self, take: Callable[[list[Any]], None], allowed_silence: Callable[[], float] | None = None) -> str:
        """Pass all messages to `take` until the helper ends or is silent for more than `allowed_silence()` seconds.

        Return "" if the helper ended by itself, otherwise its fault. The helper cannot be used afterwards.
        """
        wrong: list[str] = []
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                if allowed_silence is not None:
                    nursery.start_soon(self._watch, allowed_silence, wrong, nursery.cancel_scope)
                if self._unsent:
                    nursery.start_soon(self._send_rest)
                while messages := await self._received(wrong):
                    take(messages)
                nursery.cancel_scope.cancel()
        finally:
            self._nursery = None
        return "".join(wrong)

    def close(self) -> None:
        """Close this end, which makes the helper end. Do not call it while `run` or `receive` is running."""
        self._line.close()

    async def _received(self, wrong: list[str]) -> list[Any]:
        try:
            return await self.receive()
        except FrameTooLarge as error:
            wrong.append(str(error))
            return []

    async def _watch(self, allowed_silence: Callable[[], float], wrong: list[str], running: trio.CancelScope) -> None:
        while (silent := trio.current_time() - self._last_active) <= (limit := allowed_silence()):
            await trio.sleep(min(LOOK, max(0.0, limit - silent) + 0.01) if math.isfinite(limit) else LOOK)
        wrong.append(f"no answer for {silent:.1f} s")
        running.cancel()

    async def _send_rest(self) -> None:
        while self._unsent:
            await trio.lowlevel.wait_writable(self._line)
            del self._unsent[: self._send_now(self._unsent)]
        if self._complete:
            self._shut()

    def _shut(self) -> None:
        with suppress(OSError):  # The helper has ended.
            self._line.shutdown(socket.SHUT_WR)

    def _send_now(self, content: bytes | bytearray) -> int:
        """Send the bytes that the socket accepts now. Return their number, or the number of all bytes if the helper has
        ended.
        """
        try:
            return self._line.send(content)
        except BlockingIOError:
            return 0
        except ConnectionError:
            return len(content)  # `receive` reports the end.
