"""Messages between the processes of a server: which are sent together, their clock, and those of a dead process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio
from trio.testing import MockClock

from arena.house.random_bot import RandomBot
from arena.processes.channel import Channel
from arena.processes.frames import Frames
from arena.server.processes.first import FurtherProcess
from arena.server.processes.line import SOON, ProcessLine
from arena.server.processes.remote_match import RemoteMatch
from arena.server.runtime.turns import Turns
from arena.server.sessions.player import HousePlayer
from tests.store.test_store_journal import header


class Ends(NamedTuple):
    """A connection to another process, and the messages that this process receives on it."""

    line: ProcessLine
    turns: Turns
    watched: list[float]
    other: socket.socket

    def told(self) -> list[list[tuple[Any, ...]]]:
        """Return the frames so far."""
        self.other.setblocking(False)
        try:
            return Frames().take(self.other.recv(1 << 16))
        except BlockingIOError:
            return []


@contextmanager
def line() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    turns, watched = Turns(lambda: None, 1.0), list[float]()
    with ours, theirs:
        yield Ends(
            ProcessLine(Channel(ours), turns, lambda line: watched.append(line.deadline)), turns, watched, theirs
        )


class Speaker:
    """A sender with a message at the end of a turn, like a remote session."""

    def __init__(self, line: ProcessLine) -> None:
        self._line = line

    def send(self) -> None:
        self._line.call("session", 7, "say", b"welcome")


async def test_what_a_bot_is_said_leaves_with_what_its_matches_are_told_of_it() -> None:
    with line() as ends:
        with ends.turns:
            ends.line.call("match", 1, "returned", 5)
            ends.turns.due(Speaker(ends.line))
        assert ends.told() == [[("match", 1, "returned", (5,)), ("session", 7, "say", (b"welcome",))]]


async def test_what_is_no_news_waits_for_news_or_a_moment(autojump_clock: MockClock) -> None:
    with line() as ends:
        ends.line.call_soon("match", 1, "sent", 0.0, 0, 1, 0)
        assert ends.watched == [trio.current_time() + SOON]
        with ends.turns:
            pass
        assert ends.told() == []
        with ends.turns:
            ends.line.call("match", 1, "answered", 5)
        assert [[call[2] for call in frame] for frame in ends.told()] == [["sent", "answered"]]
        ends.line.call_soon("match", 2, "sent", 0.0, 0, 1, 0)
        ends.line.on_timer(trio.current_time())
        with ends.turns:
            pass
        assert [[call[1] for call in frame] for frame in ends.told()] == [[2]]


async def test_instants_are_told_by_a_clock_that_all_processes_share() -> None:
    with line() as ends, line() as others:
        now = trio.current_time()
        assert others.line.heard(ends.line.told(now)) == pytest.approx(now, abs=0.001)


async def test_nothing_is_kept_for_a_process_that_has_ended() -> None:
    with line() as ends:
        watching = Watching()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends.line.run, lambda _: None, watching)
            await trio.testing.wait_all_tasks_blocked()
            ends.other.close()
            watching.ready(1)
        assert ends.line.over
        assert watching.watched == []
        with ends.turns:
            ends.line.call("session", 1, "say")
        ends.line.call_at_once("session", 1, "tell")


class Watching:
    """A listener that waits for a socket."""

    def __init__(self) -> None:
        self.watched: list[socket.socket] = []

    def watch(self, other: socket.socket, ready: Any) -> None:
        self.watched.append(other)
        self.ready = ready

    def unwatch(self, other: socket.socket) -> None:
        self.watched.remove(other)

    def release(self, origin: Any) -> None:
        raise NotImplementedError

    def adopt(self, accepted: socket.socket, address: Any) -> None:
        raise NotImplementedError


async def test_a_match_whose_process_ends_before_it_begins_is_the_firsts(tmp_path: Path) -> None:
    orphans: list[RemoteMatch] = []
    players = [HousePlayer(number, RandomBot("nullern")) for number in (1, 2)]
    with line() as ends, ends.other:
        process = FurtherProcess(2, ends.line, ends.other, 1, tmp_path, orphans.append)
        kept = process.play(header(1), players, True, "house-random")
        assert process.matches == {1: kept}
        watching = Watching()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends.line.run, lambda _: None, watching)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        orphan = process.play(header(2), players, True, "house-random")
    assert orphans == [orphan]
    assert process.matches == {1: kept}
