"""A server process with two bots that play on it, and the measure of what an attack costs it and them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from tests.end_to_end.e2e_rig import Crowd, RawBot, Server, register, server, until

MIB: Final = 1 << 20
ROOM: Final = 24 * MIB
"""What one attack may add to the server's memory at its height."""
EVENING: Final = 900.0
"""Seconds the two play at most."""


class Siege:
    """The server, and the two that must notice nothing."""

    def __init__(self, server: Server, players: tuple[RawBot, RawBot]) -> None:
        self.server = server
        self.address = server.address
        self._players = players
        self._strangers = 0

    @classmethod
    @contextmanager
    def begun(cls, data: Path, *options: str) -> Iterator[Siege]:
        """A server for the block, with a match going on."""
        with server(data, "--drain", "0", *options) as running, Crowd(running.address) as crowd:
            players = crowd.come("ann", patience=EVENING), crowd.come("bob", patience=EVENING)
            for player in players:
                player.play_in_background()
            siege = cls(running, players)
            siege.play_on()
            yield siege

    def token(self) -> str:
        """The token of one more bot, which plays another game."""
        self._strangers += 1
        return register(self.address, f"stranger-{self._strangers}")

    def play_on(self, decisions: int = 20) -> None:
        """Waits until each of the two has answered so many more."""
        for player in self._players:
            goal = player.answered + decisions
            until(partial(_reached, player, goal), "the match to go on")
            assert player.end is None, player.end

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Fails where the block costs the server more memory than `ROOM`, or the two their stream or a decision."""
        before, height = self.server.memory(), self.server.memory("VmHWM")
        self.play_on(1)
        yield
        self.play_on()
        assert [notice.text for player in self._players for notice in player.notices] == []
        assert self.server.process.poll() is None
        grown = self.server.memory("VmHWM")
        assert grown <= max(height, before + ROOM), f"grew by {(grown - before) / MIB:.0f} MiB"
        assert "Traceback" not in self.server.log


def _reached(player: RawBot, goal: int) -> bool:
    return player.answered >= goal or player.end is not None
