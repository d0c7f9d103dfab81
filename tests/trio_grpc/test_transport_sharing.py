"""Transfer of connections from one process to another with the peer's address, on real sockets."""

from __future__ import annotations

import os
import resource
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from trio_grpc.http2 import sharing
from trio_grpc.http2.proxy_protocol import PeerAddress


def taken_from(line: socket.socket) -> tuple[socket.socket, PeerAddress]:
    """Return the waiting connection."""
    found = sharing.take(line)
    assert found is not None
    accepted, address = found
    assert accepted is not None
    return accepted, address


@pytest.mark.parametrize("address", [("127.0.0.1", 40312), ("::1", 40312, 0, 3)])
def test_a_connection_is_given_and_taken_with_its_address(address: PeerAddress) -> None:
    giving, taking = sharing.pair()
    peer, accepted = socket.socketpair()
    with giving, taking, peer:
        assert sharing.take(taking) is None
        assert sharing.give(giving, accepted, address)
        assert accepted.fileno() == -1, "it is closed here"
        taken, where = taken_from(taking)
        with taken:
            assert where == address
            assert not taken.getblocking()
            peer.send(b"hello")
            assert taken.recv(5) == b"hello"


def test_a_connection_that_nobody_can_take_is_kept() -> None:
    giving, taking = sharing.pair()
    taking.close()
    peer, accepted = socket.socketpair()
    with giving, peer, accepted:
        assert not sharing.give(giving, accepted, ("127.0.0.1", 1))
        assert accepted.fileno() >= 0
        with pytest.raises(OSError, match="takes no connection"):
            sharing.connection_for(giving, ("127.0.0.1", 1))


def test_connections_wait_until_they_are_taken_and_the_rest_is_kept() -> None:
    giving, taking = sharing.pair()
    kept = given = 0
    before = len([*Path("/proc/self/fd").iterdir()])
    with giving, taking:
        for _ in range(600):
            peer, accepted = socket.socketpair()
            with peer, suppress(OSError), accepted:
                if sharing.give(giving, accepted, ("127.0.0.1", 1)):
                    given += 1
                else:
                    kept += 1
                    break
        taken = 0
        while (found := sharing.take(taking)) is not None:
            assert found[0] is not None
            found[0].close()
            taken += 1
        assert taken == given > 0
        assert kept == 1
    assert len([*Path("/proc/self/fd").iterdir()]) <= before


def test_a_connection_that_cannot_be_opened_is_told_of_and_closed() -> None:
    giving, taking = sharing.pair()
    peer, accepted = socket.socketpair()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with giving, taking, peer:
        assert sharing.give(giving, accepted, ("127.0.0.1", 1))
        open_files = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, before[1]))
        spare = []
        try:
            with suppress(OSError):
                while True:
                    spare.append(os.dup(peer.fileno()))
            assert sharing.take(taking) == (None, ("127.0.0.1", 1))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            for file in spare:
                os.close(file)
        assert peer.recv(1) == b"", "nobody has the other end"
        assert sharing.take(taking) is None


def test_a_question_goes_to_the_other_process_on_a_connection_of_its_own() -> None:
    giving, taking = sharing.pair()
    with giving, taking, sharing.connection_for(giving, ("10.0.0.1", 0)) as ours:
        theirs, address = taken_from(taking)
        with theirs:
            assert address == ("10.0.0.1", 0)
            ours.send(b"ask")
            assert theirs.recv(3) == b"ask"
