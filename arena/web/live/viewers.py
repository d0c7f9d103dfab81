"""The limit of viewers that follow live pages at once."""

from __future__ import annotations

import resource
from typing import Final

import structlog

from arena.transport.connection_limits import OpenByOrigin
from arena.web.live.board import MOST_OF_ADDRESS, MOST_VIEWERS

READERS: Final = 4
"""One in this many of the files that the process may open is reserved for everything but streams."""

log = structlog.get_logger("arena.web")


class Viewers(OpenByOrigin):
    """Counts the streams of events that are open. Each is an open file: where the system allows few, few may look."""

    def __init__(self) -> None:
        """Allow as many as the process may open files for, and at most `MOST_VIEWERS`; where they are fewer, log it."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        few = MOST_VIEWERS if files == resource.RLIM_INFINITY else files - files // READERS
        self.most = max(1, min(MOST_VIEWERS, few))
        super().__init__(self.most, MOST_OF_ADDRESS)
        if self.most < MOST_VIEWERS:
            log.warning("fewer viewers than allowed: the process may open few files", viewers=self.most, files=files)


def raise_file_limit() -> None:
    """Let this process open as many files as most viewers need, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_VIEWERS * READERS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
