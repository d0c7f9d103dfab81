"""A worker: decides for house bots in a process of its own, `python -m arena.house.worker` with a socket as input.

Whoever asks for choices is answered at once; deals are replayed in between, choice by choice. It ends with its server,
however that ends: then the socket does.
"""

from __future__ import annotations

import select
import socket
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from arena.frames import Frames, packed
from arena.house.question import answers
from arena.house.selfplay import Replay, course

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.house.selfplay import Replayed

PIECE: Final = 1 << 16
"""The most bytes read at once."""


def work(line: socket.socket) -> None:
    """Serves until the other end is gone; first an empty batch says that it is there."""
    frames = Frames()
    courses: deque[Iterator[Replayed | None]] = deque()
    line.sendall(packed([]))
    while True:
        if courses and not select.select((line,), (), (), 0)[0]:
            if (replayed := next(courses[0])) is not None:
                courses.popleft()
                line.sendall(packed(replayed))
            continue
        piece = line.recv(PIECE)
        if not piece:
            return
        for message in frames.take(piece):
            if isinstance(message, Replay):
                courses.append(course(message))
            else:
                line.sendall(packed(answers(message)))


if __name__ == "__main__":
    with socket.socket(fileno=0) as server, suppress(ConnectionError):
        work(server)
