"""A data directory, and jobs that fill it."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from arena.ladder.live import RatingChange
from arena.store import bots, matches
from arena.store.bots import BotId
from arena.store.matches import MatchId

NOW = 1_700_000_000_000_000


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data"


class Jobs:
    """What a server asks of the store, in the shortest form."""

    def bots(self, connection: Connection, *names: str) -> list[BotId]:
        return [bots.register(connection, name, "", NOW).bot.id for name in names]

    def begin(self, connection: Connection, players: Sequence[BotId], game: str = "whist") -> MatchId:
        return matches.begin(connection, game, {"rounds": 3}, players, NOW)

    def finish(
        self, connection: Connection, match: MatchId, places: Sequence[int], at: int = NOW + 1
    ) -> tuple[RatingChange, ...]:
        scores = [10 - place for place in places]
        return matches.finish(
            connection, match, scores=scores, places=places, forced=[0] * len(places), at=at, replay=self.replay
        )

    def replay(self, changes: tuple[RatingChange, ...]) -> bytes:
        return gzip.compress(repr(changes).encode(), mtime=0)


@pytest.fixture
def jobs() -> Jobs:
    return Jobs()
