"""A network that can be partitioned silently: packets between two parties vanish, and no connection is reset.

Each party has a network namespace on a common bridge, where nft drops the packets. Without nft or the permission, the
tests are skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

import pytest

TEST: Final = "test"
"""The party of the test itself."""
_FIRST: Final = ip_address("198.18.0.1") + 256 * (os.getpid() % 512)
"""The first address for this process, so that tests that run at the same time do not share a network."""
_DROP: Final = """
table bridge cuts {
    set cut { type ipv4_addr . ipv4_addr; }
    chain between { type filter hook forward priority 0; ip saddr . ip daddr @cut drop; }
}
"""


class Namespaces:
    """Parties in network namespaces. The test stays in its own, with a link to the bridge."""

    def __init__(self, *parties: str) -> None:
        self.hosts: Final = {party: str(_FIRST + number) for number, party in enumerate((*parties, TEST))}
        self._prefix: Final = f"parted-{os.getpid()}-"
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def _build(self) -> None:
        hub = f"{self._prefix}hub"
        _run("ip", "netns", "add", hub)
        _run("ip", "-n", hub, "link", "add", "bridge", "type", "bridge")
        _run("ip", "-n", hub, "link", "set", "bridge", "up")
        for number, (party, host) in enumerate(self.hosts.items()):
            port, end = f"p{number}", f"a{os.getpid()}"
            _run("ip", "-n", hub, "link", "add", port, "type", "veth", "peer", "name", end)
            _run("ip", "-n", hub, "link", "set", port, "up", "master", "bridge")
            place: tuple[str, ...] = ()
            if party == TEST:
                _run("ip", "-n", hub, "link", "set", end, "netns", str(os.getpid()))
            else:
                place = ("-n", f"{self._prefix}{party}")
                _run("ip", "netns", "add", place[1])
                _run("ip", "-n", hub, "link", "set", end, "netns", place[1])
                _run("ip", *place, "link", "set", "lo", "up")
            _run("ip", *place, "address", "add", f"{host}/24", "dev", end)
            _run("ip", *place, "link", "set", end, "up")
        self._nft(_DROP)

    def within(self, party: str) -> list[str]:
        """Return the start of a command that runs as a party."""
        return ["nsenter", f"--net=/run/netns/{self._prefix}{party}"]

    def part(self, one: str, other: str) -> None:
        """Drop all packets between two parties."""
        self._nft(f"add element bridge cuts cut {self._both(one, other)}")

    def heal(self, one: str, other: str) -> None:
        """Undo `part`."""
        self._nft(f"delete element bridge cuts cut {self._both(one, other)}")

    def close(self) -> None:
        for name in ("hub", *self.hosts):
            subprocess.run(["ip", "netns", "delete", f"{self._prefix}{name}"], capture_output=True, check=False)

    def _both(self, one: str, other: str) -> str:
        first, second = self.hosts[one], self.hosts[other]
        return f"{{ {first} . {second}, {second} . {first} }}"

    def _nft(self, rules: str) -> None:
        _run("ip", "netns", "exec", f"{self._prefix}hub", "nft", "-f", "-", given=rules)


@contextmanager
def network(*parties: str) -> Iterator[Namespaces]:
    """Connect parties during the `with` block. Skip the test if namespaces or nft are missing."""
    try:
        made = Namespaces(*parties)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"\nNO NETWORK NAMESPACES OR NO NFT HERE ({error}); tests of partitions do not run", file=sys.stderr)
        pytest.skip("network namespaces or nft are missing")
    print("partitions by nft in network namespaces")
    try:
        yield made
    finally:
        made.close()


def _run(*command: str, given: str = "") -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, input=given)
