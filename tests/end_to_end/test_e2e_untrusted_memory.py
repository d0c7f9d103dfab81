"""Memory of a real server during attacks by unauthenticated clients. It stays bounded and is freed afterwards."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.end_to_end.e2e_rig import Server, server, until
from tests.trio_grpc.loaded_server import MIB
from tests.trio_grpc.raw_http2 import CHECK, EMPTY, END_STREAM, Kind, RawConnection, frame, message

pytestmark = [pytest.mark.process, pytest.mark.unmeasured]

CONNECTIONS: Final = 60
CALLS: Final = 8
"""Maximum number of concurrent calls on a connection."""
MOST: Final = 20 * MIB
"""Maximum number of bytes that unauthenticated clients may add to the server's memory."""
REST: Final = 10 * MIB
"""Maximum number of those bytes that may still be in use after the attack."""
BOMB: Final = message(gzip.compress(bytes(MIB)), flag=1)
HALF: Final = message(bytes(16_000), length=16 << 10)


def throw(connection: RawConnection, bombs: int) -> None:
    """Send gzip bombs in as many concurrent calls as allowed."""
    for _ in range(bombs // CALLS):
        streams = [connection.stream() for _ in range(CALLS)]
        connection.send(
            *(
                connection.opening(stream, CHECK, ("grpc-encoding", "gzip"))
                + frame(Kind.DATA, END_STREAM, stream, BOMB)
                for stream in streams
            )
        )
        for stream in streams:
            assert connection.outcome(stream).status == 8
        connection.answers.clear()


def attacked(running: Server, bombs: int) -> None:
    """Send bombs, then leave requests incomplete, some of a MiB. Check the memory at its peak and afterwards."""
    with RawConnection(running.address) as connection, ExitStack() as stack:
        throw(connection, 10 * CALLS)
        before = running.memory()
        Path(f"/proc/{running.process.pid}/clear_refs").write_text("5")  # the peak is measured from here
        throw(connection, bombs)
        for number in range(CONNECTIONS):
            hoarder = stack.enter_context(RawConnection(running.address))
            for _ in range(CALLS):
                stream = hoarder.open()
                hoarder.data(stream, message(bytes(60_000), length=MIB) if number % 10 == 9 else HALF)
            hoarder.settle()
        assert connection.call(CHECK, EMPTY).status == 0
        grown = running.memory("VmHWM") - before
        assert grown <= MOST, f"grew by {grown / MIB:.1f} MiB"
        until(partial(_back, running, before + REST), "the memory to be given back", 15.0)
        assert connection.call(CHECK, EMPTY).status == 0


def _back(running: Server, most: int) -> bool:
    return running.memory() <= most


def test_bombs_and_half_sent_requests_take_little_memory_and_give_it_back(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--drain", "0", "--request-timeout", "2") as running:
        attacked(running, 1000)


@pytest.mark.long
def test_ten_thousand_bombs_and_half_sent_requests_take_little_memory_and_give_it_back(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--drain", "0", "--work-untrusted", "10000") as running:
        attacked(running, 10_000)
