"""A real server on which real bots have played both games, its pages, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from engine.registry import GAMES
from tests.cli.cli_rig import Played, let_play, serving
from tests.cli.web_process_rig import browsing
from tests.web.browser import started

MATCHES = 2


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A server on which three bots have played matches of every game."""
    directory: Path = tmp_path_factory.mktemp("web")
    with serving(directory / "data", "--seats", "3") as server:
        for game in GAMES:
            let_play(server.server, directory, MATCHES, game=game)
        yield server


@pytest.fixture(scope="session")
def site(arena: Played) -> Iterator[str]:
    """The address of the pages without a final slash."""
    with browsing("--server", arena.server) as (host, port):
        yield f"http://{host}:{port}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one file of tests. Its event loop and trio's would both handle the process's signals."""
    with started() as browser:
        yield browser
