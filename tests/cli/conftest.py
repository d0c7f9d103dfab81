"""A server with a few finished matches, for all tests that only read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from arena.queries.remote import connect
from arena.store.store import open_store
from engine.registry import GAMES
from tests.cli.cli_rig import PATIENCE, Played, let_play, serving

MATCHES = 3
TABLES = ["--seats", "3"]
"""Tables of three seats, or of a game's largest size if the game has no table of three."""
for name, game in GAMES.items():
    if 3 not in game.seats:
        TABLES += ["--seats", f"{name}:{game.seats[-1]}"]


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A server after three matches of three bots. It still runs, but the bots have left.

    The server was restarted after the matches and fitted the ladder at its start.
    """
    directory = tmp_path_factory.mktemp("cli")
    with serving(directory / "data", "--no-house", *TABLES) as server:
        let_play(server.server, directory, MATCHES)
    with serving(directory / "data", "--no-house", *TABLES) as server:
        with connect(server.server) as client:
            client.ladder("sixth_sense", seats=3)  # the fit process needs about this long to start
            until = time.monotonic() + PATIENCE
            while (client.ladder("sixth_sense").through or 0) < MATCHES:
                assert time.monotonic() < until, "the ladder is not fitted"
        yield server


@pytest.fixture(params=["server", "data"])
def source(request: pytest.FixtureRequest, played: Played) -> tuple[str, str]:
    """Return the options that name the data source: the server or its data directory."""
    return ("--server", played.server) if request.param == "server" else ("--data", str(played.data))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A data directory without bots, matches or a server."""

    async def make() -> None:
        async with open_store(tmp_path / "data", 0):
            pass

    trio.run(make)
    return tmp_path / "data"
