"""Pruning of replays: the oldest go, their digests and all results stay; what a data directory takes of the disk."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from arena.store import matches, schema
from arena.store.bots import BotId
from arena.store.disk_use import ReplayUse, disk_use
from arena.store.errors import ReplayPruned
from arena.store.events import read
from arena.store.matches import MatchId
from arena.store.pruning import prune
from arena.store.store import open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, begin, finish

PIECE = 5000


def big(connection: Connection, match_id: MatchId) -> None:
    finish(connection, match_id, [1, 2], more=os.urandom(PIECE))


def pruned(connection: Connection) -> list[int]:
    """Matches whose replays are pruned; every other has its replay."""
    found = []
    for row in connection.execute(select(schema.replays).order_by(schema.replays.c.match_id)):
        if row.content:
            assert sha256(row.content).digest() == row.sha256
            continue
        with pytest.raises(ReplayPruned, match=row.sha256.hex()):
            matches.get_replay(connection, row.match_id)
        found.append(row.match_id)
    return found


@pytest.fixture
def played(data: Path) -> Path:
    """Matches 1 to 7, of which 4 is being played and 6 was interrupted."""
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        for number in range(1, 8):
            match_id = begin(connection, players)
            if number not in {4, 6}:
                finish(connection, match_id, [1, 2])
        matches.interrupt(connection, [MatchId(6)], "gone", NOW)
    return data


def test_the_newest_are_kept_and_the_others_lose_nothing_but_their_content(played: Path) -> None:
    with open_to_amend(played) as connection:
        events, digests = [*read(connection, GAME)], connection.execute(select(schema.replays.c.sha256)).all()
        assert prune(connection, 5, NOW) == prune(connection, 100, NOW) == ()
        assert prune(connection, 3, NOW) == (1, 2)
        assert pruned(connection) == [1, 2]
        assert prune(connection, 3, NOW) == ()
        assert prune(connection, 0, NOW) == (3, 5, 7)
        assert pruned(connection) == [1, 2, 3, 5, 7]
        assert [*read(connection, GAME)] == events
        assert connection.execute(select(schema.replays.c.sha256)).all() == digests
        assert len(matches.list_matches(connection)) == 7


def test_a_few_are_pruned_at_a_time_the_oldest_first(played: Path) -> None:
    with open_to_amend(played) as connection:
        assert prune(connection, 1, NOW, limit=2) == (1, 2)
        assert pruned(connection) == [1, 2]
        assert prune(connection, 1, NOW, after=2, limit=2) == (3, 5)
        assert prune(connection, 1, NOW, after=5, limit=2) == ()


def test_room_of_pruned_replays_is_used_again(data: Path) -> None:
    sizes = []
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
    for _ in range(3):
        with open_to_amend(data) as connection:
            for _ in range(100):
                big(connection, begin(connection, players))
            prune(connection, 0, NOW)
            use = disk_use(connection, data)
        sizes.append((data / "arena.db").stat().st_size)
        assert use.replays[0].bytes == 0
    assert sizes[0] > 100 * PIECE
    assert sizes[2] < sizes[0] + 100 * PIECE


def test_disk_use_is_by_game_and_counts_every_file(played: Path) -> None:
    with open_to_amend(played) as connection:
        big(connection, begin(connection, [BotId(1), BotId(2)], "skat"))
        prune(connection, 3, NOW)
        lengths = [len(content) for content in connection.scalars(select(schema.replays.c.content))]
        use = disk_use(connection, played)
    games = {each.game: each for each in use.replays}
    assert games["skat"] == ReplayUse("skat", 1, 0, lengths[-1])
    assert games[GAME] == ReplayUse(GAME, 2, 3, sum(lengths[:-1]))
    (played / "journal" / "00000001.log").write_bytes(bytes(77))
    with open_to_amend(played) as connection:
        use = disk_use(connection, played)
        assert use.journal == 77
        assert use.database >= (played / "arena.db").stat().st_size > 0
