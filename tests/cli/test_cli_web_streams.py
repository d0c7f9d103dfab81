"""Too many event streams: the server refuses streams beyond the limit with a retry time, and still serves pages."""

from __future__ import annotations

import json
import re
import resource
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from arena.web.live.board import MOST_VIEWERS
from tests.cli.cli_rig import PATIENCE
from tests.cli.web_data import directory_of
from tests.cli.web_process_rig import ask, browsing

REQUEST: Final = b"GET /live/events/matches HTTP/1.1\r\nHost: arena\r\nAccept: text/event-stream\r\n\r\n"
FILES: Final = 512
AT_ONCE: Final = 200
"""Number of streams that the test requests before it reads the first answer."""


class Streams:
    """Viewers with a separate socket each."""

    def __init__(self, place: tuple[str, int], sockets: ExitStack) -> None:
        self.refused = 0
        self.open: list[socket.socket] = []
        self._place = place
        self._sockets = sockets

    def ask(self, number: int) -> None:
        """Open the given number of further streams at once. The server closes those that it refuses."""
        asked = [socket.create_connection(self._place, PATIENCE) for _ in range(number)]
        for each in asked:
            each.sendall(REQUEST)
        for each in asked:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = each.recv(4096)
                assert piece, head
                head += piece
            if head.startswith(b"HTTP/1.1 200"):
                self.open.append(self._sockets.enter_context(each))
                continue
            assert head.startswith(b"HTTP/1.1 503"), head
            assert b"\r\nretry-after: 60\r\n" in head
            body = head.partition(b"\r\n\r\n")[2]
            while piece := each.recv(4096):  # the server closes the connection
                body += piece
            assert re.fullmatch(rb"streams of events: \d+ are open, the most at once; come back later\n", body), body
            each.close()
            self.refused += 1


def figure(place: tuple[str, int], name: str) -> int:
    found = re.search(rf"^{name} (\S+)$", ask(place, "/metrics")[1].decode(), re.MULTILINE)
    assert found
    return round(float(found[1]))


def test_where_few_files_may_be_open_few_may_look_and_pages_are_answered(tmp_path: Path) -> None:
    log: list[str] = []
    path = directory_of(tmp_path / "data", 2)
    with browsing("--data", str(path), log=log, files=FILES) as place, ExitStack() as sockets:
        most = figure(place, "arena_web_streams_most")
        assert most == FILES * 3 // 4
        streams = Streams(place, sockets)
        streams.ask(most + 30)
        streams.ask(30)
        assert (len(streams.open), streams.refused) == (most, 60)
        assert figure(place, "arena_web_streams_open") == most
        assert ask(place, "/matches/1")[0].status == 200
        sockets.close()
        until = time.monotonic() + PATIENCE
        while figure(place, "arena_web_streams_open"):
            assert time.monotonic() < until, "streams whose viewers are gone"
        with ExitStack() as again:
            Streams(place, again).ask(1)
    [line] = log
    assert json.loads(line)["viewers"] == most


@pytest.mark.long
def test_ten_thousand_streams_are_answered_and_all_but_two_thousand_refused(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = MOST_VIEWERS + AT_ONCE + 100
    if hard != resource.RLIM_INFINITY and hard < needed * 4:
        pytest.skip(f"the system lets a process open {hard} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    path = directory_of(tmp_path / "data", 2)
    try:
        with browsing("--data", str(path)) as place, ExitStack() as sockets:
            streams = Streams(place, sockets)
            for number in range(0, 10_000, AT_ONCE):
                streams.ask(AT_ONCE)
                if number % 2000 == 0:
                    assert ask(place, "/matches/1")[0].status == 200
            assert (len(streams.open), streams.refused) == (MOST_VIEWERS, 10_000 - MOST_VIEWERS)
            assert figure(place, "arena_web_streams_open") == MOST_VIEWERS
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
