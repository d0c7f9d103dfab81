"""A worker process, which chooses for house bots. The server starts it with `arena.processes`.

Questions are answered at once; baselines are computed in between, choice by choice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from arena.house.selfplay import BaselineRequest, BaselineResult, answers, course
from arena.processes.parent import Parent, connected


def work(server: Parent) -> None:
    """Answer the server's messages until the connection ends."""
    courses: deque[Iterator[BaselineResult | None]] = deque()
    while True:
        if courses and not server.waiting():
            if (replayed := next(courses[0])) is not None:
                courses.popleft()
                server.send([replayed])
            continue
        messages = server.receive()
        if not messages:
            return
        for message in messages:
            if isinstance(message, BaselineRequest):
                courses.append(course(message))
            else:
                server.send([answers(message)])


if __name__ == "__main__":
    with connected() as parent:
        work(parent)
