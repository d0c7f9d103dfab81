"""The writer process of a server: it may outlive its server by a moment, and its server stops when it ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from tests.end_to_end.e2e_rig import Crowd, audit, server, until
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
    """As sent by Ctrl-C in a terminal, or by a service manager."""
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
