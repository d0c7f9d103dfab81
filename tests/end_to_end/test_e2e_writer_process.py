"""The writer process of a server. It may outlive the server by a moment, and if it ends first, the server stops."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.match.inputs import Restored
from tests.end_to_end.e2e_rig import Crowd, RawBot, Server, audit, server, until
from tests.end_to_end.test_e2e_restart import undisturbed
from tests.end_to_end.test_e2e_stop import all_playing


def test_a_server_whose_writer_process_is_killed_says_so_and_the_next_one_loses_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, "--drain", "20") as arena, Crowd(arena.address) as crowd:
        silent, other = crowd.come("silent"), crowd.come("other")
        other.play_in_background()
        silent.read_until(lambda: silent.decisions)
        all_playing(crowd, 4)
        os.kill(arena.writer_process, signal.SIGKILL)
        assert arena.ended() == 1
        assert (
            f"the process that writes the database (pid {arena.writer_process}) has ended; start the server again"
            in arena.log
        )
        told = {report.match_id for bot in crowd.bots for report in bot.reports if not report.interrupted}
    left = audit(data)
    assert told <= {match.match_id for match in left.finished}
    assert left.playing
    with server(data, "--drain", "0") as arena:
        found = audit(data)
        assert [match.match_id for match in found.playing] == [match.match_id for match in left.playing], "they go on"
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0


def test_a_signal_for_all_processes_is_handled_by_the_server_alone(tmp_path: Path) -> None:
    """The signal arrives as from Ctrl-C in a terminal, or as from a service manager."""
    with server(tmp_path / "data", "--drain", "20") as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(arena.writer_process, number)
        known = len(crowd.bots[0].reports)
        until(lambda: len(crowd.bots[0].reports) > known + 5, "more results")
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
    assert audit(arena.data).playing == []


def test_the_next_server_waits_for_the_writer_process_of_a_dead_one(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data) as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        writer_process = arena.writer_process
        os.kill(writer_process, signal.SIGSTOP)
        arena.signal(signal.SIGKILL)
        assert arena.ended() == -signal.SIGKILL
    stopped = time.monotonic()
    threading.Timer(1, os.kill, (writer_process, signal.SIGCONT)).start()
    with server(data, "--drain", "0") as arena:
        assert time.monotonic() - stopped >= 1
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
    assert audit(data).interrupted == []


TIMES = 4
"""Number of servers that end during one match. At a bot's fourth absence a house bot replaces it at once."""


def kill_the_writer(arena: Server) -> None:
    os.kill(arena.writer_process, signal.SIGKILL)
    assert arena.ended() == 1
    assert "has ended; start the server again" in arena.log


def take_the_journal_away_for_a_moment(arena: Server) -> None:
    journal = max((arena.data / "journal").glob("*.log"))
    away = journal.rename(arena.data / "away")
    assert arena.ended() == 1
    assert "was deleted or replaced while the server had it open" in arena.log
    away.rename(journal)


@pytest.mark.parametrize("fault", [kill_the_writer, take_the_journal_away_for_a_moment])
def test_a_server_that_ends_by_its_own_fault_charges_nobody(tmp_path: Path, fault: Callable[[Server], None]) -> None:
    data, address, tokens = tmp_path / "data", "127.0.0.1:0", dict[str, str]()

    @contextmanager
    def both_playing() -> Iterator[tuple[Server, RawBot]]:
        nonlocal address
        with server(data, address=address) as arena, Crowd(arena.address) as crowd:
            address, crowd.tokens = arena.address, tokens
            crowd.come("ann").play_in_background()
            yield arena, crowd.come("bob")

    for _ in range(TIMES):
        with both_playing() as (arena, bob):
            bob.play_until(lambda bob=bob: bob.answered >= 4)  # type: ignore[misc]
            fault(arena)
    with both_playing() as (_, bob):
        bob.play_until(lambda: bob.reports)
    found = audit(data)
    assert sum(isinstance(event, Restored) for event in found.replays[1].inputs) == TIMES
    undisturbed(found)
