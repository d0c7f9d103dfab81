"""A server that is killed or stopped during matches. The next server on the same data plays them to the end."""

from __future__ import annotations

import signal
import subprocess
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from arena.match.inputs import Restored, StoodIn
from tests.end_to_end.e2e_rig import PATIENCE, Audit, Server, audit, listed, program, server, until

AT_ONCE = 3
"""Number of matches at once."""


def running(address: str) -> set[int]:
    """Return the running matches."""
    return {match.match_id for match in listed(address, limit=1000) if not match.ended.seconds}


def are_going_on(arena: Server) -> bool:
    """Return True if the bots play as many matches as they can and the server has recorded some of their moves."""
    return len(running(arena.address)) == AT_ONCE and arena.journal_size() > arena.journal + 20_000


def sdk_bots(stack: ExitStack, tmp_path: Path, address: str) -> list[subprocess.Popen[str]]:
    """Start three bots that use the SDK."""
    return [
        stack.enter_context(
            program("tests/end_to_end/slow_bot.py", address, name, str(tmp_path / f"{name}.token"), str(AT_ONCE))
        )
        for name in ("ann", "bob", "cleo")
    ]


def undisturbed(found: Audit) -> None:
    """Check that no seat was forced, blamed or replaced, and that every result counts for all."""
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
            assert '"match resumed"' in arena.log
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
