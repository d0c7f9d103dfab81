"""The small game of the server's tests can be read from a journal."""

import pytest

from arena.replay import read
from engine.registry import GAMES
from tests.server.server_rig import GAME


@pytest.fixture(autouse=True)
def _counting_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "GAMES", {**GAMES, GAME.name: GAME})
