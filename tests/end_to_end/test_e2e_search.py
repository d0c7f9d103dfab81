"""House bots that search, at the tables of a real server. Their processor time is limited, and one is killed during a
match.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from arena_client.v1.matches_pb2 import MatchEntry

from arena.house import SEARCH_BOTS, title
from arena.match.inputs import Restored
from tests.end_to_end.e2e_rig import Server, audit, listed, program, server, until

GAME = "sixth_sense"
NAME = SEARCH_BOTS[GAME].name
OPTIONS = ("--house", "--luck", "off", "--patience", "0.2", "--game", GAME)
SHARE = 0.25
MEASURED = 15.0
"""Length of the measurement in seconds."""
MORE = 6.0
"""Seconds of processor time that running matches may add to the share, if nothing is compiled."""


def with_it(address: str) -> list[MatchEntry]:
    """Return the matches of the searching bot, newest first."""
    return [each for each in listed(address, limit=1000) if NAME in [seat.bot for seat in each.seats]]


def ended(address: str) -> set[int]:
    return {each.match_id for each in with_it(address) if each.ended.seconds}


def play(stack: ExitStack, tmp_path: Path, address: str, bots: int, capacity: int) -> None:
    """Start a number of bots, which reconnect when the server returns."""
    for number in range(bots):
        command = ["-m", "arena_client.samples.rule_bot", "--server", address, "--name", f"bot{number}"]
        command += ["--token-file", str(tmp_path / f"{number}.token"), "--capacity", str(capacity), "--game", GAME]
        stack.enter_context(program(*command, listened_to=False))


def searching(arena: Server) -> list[int]:
    """Return the server's helper processes that run with low priority."""
    own = arena.process.pid
    children = Path(f"/proc/{own}/task").glob("*/children")
    helpers = [int(pid) for thread in children for pid in thread.read_text().split()]
    workers = [pid for pid in helpers if "arena.house.worker" in Path(f"/proc/{pid}/cmdline").read_text()]
    return [pid for pid in workers if os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, own)]


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_match_in_which_one_sits_outlives_its_server(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with server(tmp_path / "data", *OPTIONS, "--house-search", "1", seats="3") as arena:
            play(stack, tmp_path, arena.address, 2, 1)
            until(lambda: any(not each.ended.seconds for each in with_it(arena.address)), "a match with it")
            cut = {each.match_id for each in with_it(arena.address) if not each.ended.seconds}
            arena.kill()
        options = (*OPTIONS, "--house-search", "0")
        with server(tmp_path / "data", *options, seats="3", address=arena.address) as again:
            until(lambda: cut <= ended(again.address), "the end of what was cut short")
            assert searching(again), "what was begun with it goes on with it"
            again.signal(signal.SIGTERM)
            again.ended()
    found = audit(tmp_path / "data")
    for number in cut:
        replay = found.replays[number]
        assert replay.header.stand_in == title(SEARCH_BOTS[GAME])
        [restored] = [event for event in replay.inputs if isinstance(event, Restored)]
        assert (restored.stand_in, restored.removed) == (replay.header.stand_in, ())


@pytest.mark.long
def test_searches_take_their_share_of_a_core_and_no_more(tmp_path: Path) -> None:
    with ExitStack() as stack:
        options = (*OPTIONS, "--house-search", str(SHARE))
        arena = stack.enter_context(server(tmp_path / "data", *options, seats="3"))
        began = time.monotonic()
        play(stack, tmp_path, arena.address, 4, 4)
        until(lambda: with_it(arena.address) and time.monotonic() > began + MEASURED, "the end of the time")
        [pid] = searching(arena)
        assert 0.1 < processor_time(pid) < SHARE * (time.monotonic() - began) + MORE
        played = listed(arena.address, limit=1000)
    for bot in {seat.bot for each in played for seat in each.seats if seat.bot.startswith("bot")}:
        seated = [{seat.bot for seat in each.seats} for each in sorted(played, key=lambda each: each.match_id)]
        assert NAME not in next(bots for bots in seated if bot in bots), "its first match"
