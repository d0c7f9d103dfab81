"""A server that is killed or stopped in the middle of matches: the next one on the same data plays them to the end."""

from __future__ import annotations

import re
import signal
import subprocess
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from arena.match.inputs import Restored, StoodIn
from arena.match.policy import Policy
from tests.end_to_end.e2e_rig import (
    ARENA,
    PATIENCE,
    ROOT,
    Audit,
    Crowd,
    Server,
    audit,
    listed,
    program,
    replay_of,
    server,
    until,
)

AT_ONCE = 3
"""Matches."""


def running(address: str) -> set[int]:
    """The matches in progress."""
    return {match.match_id for match in listed(address, limit=1000) if not match.ended.seconds}


def are_going_on(arena: Server) -> bool:
    """Whether as many matches are played as the bots can, and some of it was written since the server began."""
    return len(running(arena.address)) == AT_ONCE and arena.journal_size() > arena.journal + 20_000


def sdk_bots(stack: ExitStack, tmp_path: Path, address: str) -> list[subprocess.Popen[str]]:
    """Three bots on the SDK."""
    return [
        stack.enter_context(
            program("tests/end_to_end/slow_bot.py", address, name, str(tmp_path / f"{name}.token"), str(AT_ONCE))
        )
        for name in ("ann", "bob", "cleo")
    ]


def undisturbed(found: Audit) -> None:
    """Nobody was forced, charged or replaced, and every result counts for all."""
    for match in found.finished:
        assert [seat.forced for seat in match.seats] == [0] * len(match.seats)
    for replay in found.replays.values():
        assert all(replay.result.counts)
        assert not any(replay.result.troubled)
        assert not any(isinstance(event, StoodIn) for event in replay.inputs)


@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=pytest.mark.long), signal.SIGTERM])
def test_every_match_of_a_server_that_ends_is_played_to_its_end_by_the_next(tmp_path: Path, how: int) -> None:
    data, cut = tmp_path / "data", set[int]()
    with ExitStack() as stack:
        address, bots = "127.0.0.1:0", list[subprocess.Popen[str]]()
        for _ in range(3):
            with server(data, "--drain", "0", address=address, seats="3") as arena:
                address = arena.address
                bots = bots or sdk_bots(stack, tmp_path, address)
                until(partial(are_going_on, arena), "matches that are going on")
                cut |= running(address)
                arena.signal(how)
                assert arena.ended() == (-9 if how == signal.SIGKILL else 0)
        with server(data, "--drain", "60", address=address, seats="3") as arena:
            until(lambda: not cut & running(address), "the end of what was cut short")
            assert [bot.poll() for bot in bots] == [None] * 3, "bots outlive servers"
            arena.signal(signal.SIGTERM)
            assert arena.ended(2 * PATIENCE) == 0
    found = audit(data)
    assert (found.playing, found.interrupted) == ([], [])
    assert cut <= {match.match_id for match in found.finished}
    restored = [
        replay for replay in found.replays.values() if any(isinstance(each, Restored) for each in replay.inputs)
    ]
    assert {replay.header.match_id for replay in restored} >= cut
    undisturbed(found)


def test_a_replay_of_a_match_that_outlived_its_server_is_verified_by_the_command(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, "--quiet") as arena, Crowd(arena.address) as crowd:
        address, tokens = arena.address, crowd.tokens
        ann, bob = crowd.come("ann"), crowd.come("bob")
        ann.play_in_background()
        bob.play_until(lambda: bob.rounds)
        arena.signal(signal.SIGKILL)
        arena.ended()
    with server(data, address=address) as arena, Crowd(address) as crowd:
        crowd.tokens |= tokens
        ann, bob = crowd.come("ann"), crowd.come("bob")
        ann.play_in_background()
        bob.play_until(lambda: bob.reports)
        path = tmp_path / "match.jsonl.gz"
        path.write_bytes(replay_of(address, bob.reports[0].match_id))
        assert re.search('"match_id": 1,.*"match resumed"', arena.log)
    ran = subprocess.run(
        [str(ARENA), "replay", "verify", str(path)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("OK")


def test_the_open_decision_is_the_same_before_and_after_with_the_same_time(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, "--quiet") as arena, Crowd(arena.address) as crowd:
        address, tokens = arena.address, crowd.tokens
        ann, bob = crowd.come("ann"), crowd.come("bob")
        ann.play_in_background()
        bob.play_until(lambda: bob.answered >= 5)
        bob.read_until(lambda: bob.decisions)
        before = bob.decisions[0]
        arena.signal(signal.SIGKILL)
        arena.ended()
    with server(data, "--quiet", address=address) as arena, Crowd(address) as crowd:
        crowd.tokens |= tokens
        bob = crowd.come("bob")
        bob.read_until(lambda: bob.decisions)
        again = bob.decisions[0]
        assert (again.match_id, again.decision_id) == (before.match_id, before.decision_id)
        assert (list(again.legal), again.sixth_sense) == (list(before.legal), before.sixth_sense)
        assert again.bank_ms == before.bank_ms == Policy().bank // 1000
        crowd.come("ann").play_in_background()
        bob.read_until(lambda: any(notice.kind == 13 for notice in bob.notices))
        bob.play_until(lambda: bob.reports)
        assert bob.reports[0].match_id == before.match_id
        assert list(bob.reports[0].counts) == [True, True]
        undisturbed(audit(data))
