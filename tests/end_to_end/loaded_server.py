"""A server process with two playing bots, and checks that an attack harms neither the server nor the bots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from tests.end_to_end.e2e_rig import Crowd, RawBot, Server, register, server, until

MIB: Final = 1 << 20
MAX_GROWTH: Final = 24 * MIB
"""Maximum number of bytes by which one attack may raise the peak of the server's memory."""
PLAYING_TIME: Final = 900.0
"""Maximum number of seconds for which the two bots play."""


class LoadedServer:
    """The server and its two playing bots."""

    def __init__(self, server: Server, players: tuple[RawBot, RawBot]) -> None:
        self.server = server
        self.address = server.address
        self._players = players
        self._registered = 0

    @classmethod
    @contextmanager
    def started(cls, data: Path, *options: str) -> Iterator[LoadedServer]:
        """Run a server for the block, with a match in progress."""
        with server(data, "--drain", "0", *options) as running, Crowd(running.address) as crowd:
            players = crowd.come("ann", patience=PLAYING_TIME), crowd.come("bob", patience=PLAYING_TIME)
            for player in players:
                player.play_in_background()
            loaded_server = cls(running, players)
            loaded_server.play_on()
            yield loaded_server

    def __repr__(self) -> str:
        return f"<LoadedServer {self.server}, with {self._players}>"

    def token(self) -> str:
        """Register one more bot, which does not play with the two; return its token."""
        self._registered += 1
        return register(self.address, f"stranger-{self._registered}")

    def play_on(self, decisions: int = 20) -> None:
        """Wait until each of the two bots has answered this many more decisions."""
        for player in self._players:
            goal = player.answered + decisions
            until(partial(_reached, player, goal), "the match to go on")
            assert player.end is None, player.end

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Fail if the block costs the server more than `MAX_GROWTH` or an error, or a bot its stream or a decision."""
        before, peak = self.server.memory(), self.server.memory("VmHWM")
        self.play_on(1)
        yield
        self.play_on()
        assert [notice.text for player in self._players for notice in player.notices] == []
        assert self.server.process.poll() is None
        grown = self.server.memory("VmHWM")
        assert grown <= max(peak, before + MAX_GROWTH), f"grew by {(grown - before) / MIB:.0f} MiB"
        assert "Traceback" not in self.server.log


def _reached(player: RawBot, goal: int) -> bool:
    return player.answered >= goal or player.end is not None
