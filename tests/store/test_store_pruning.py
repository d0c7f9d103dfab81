"""Pruning of replays: the oldest are removed, but their digests and all results remain. Also the disk space of a
directory.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update

from arena.store import schema
from arena.store.base.errors import ReplayPruned
from arena.store.bots.bots import BotId
from arena.store.ladder.events import read
from arena.store.log.audit import audit
from arena.store.matches import contests, matches
from arena.store.matches.matches import MatchId
from arena.store.opening import open_readonly, open_to_amend
from arena.store.replays import replays
from arena.store.replays.files import ReplayUse, disk_use
from arena.store.replays.replays import last_before, prune
from tests.store.jobs import GAME, NOW, add_bots, begin, finish

PIECE = 5000


def big(connection: Connection, match_id: MatchId) -> None:
    finish(connection, match_id, [1, 2], more=os.urandom(PIECE))


def pruned(connection: Connection) -> list[int]:
    """Return the matches with pruned replays. Every other match must have its replay."""
    found = []
    for row in connection.execute(select(schema.replays).order_by(schema.replays.c.match_id)):
        if row.segment is not None:
            assert replays.content(connection, row.match_id)
            continue
        with pytest.raises(ReplayPruned, match=row.sha256.hex()):
            matches.get_replay(connection, row.match_id)
        found.append(row.match_id)
    return found


@pytest.fixture
def played(data: Path) -> Path:
    """Store matches 1 to 7, of which 4 is running and 6 was interrupted."""
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        for number in range(1, 8):
            match_id = begin(connection, players)
            if number not in {4, 6}:
                finish(connection, match_id, [1, 2])
        matches.interrupt(connection, [MatchId(6)], "gone", NOW)
    return data


def test_replays_of_events_always_stay(played: Path) -> None:
    with open_to_amend(played) as connection:
        plan = contests.EventPlan("friday", GAME, 2, "race", 3, None, "open", NOW + 9)
        contests.create(connection, plan, bytes(32), (), NOW)
        contests.seat(connection, "friday/0", 2)
        assert prune(connection, 0, NOW, limit=2) == (1, 3)
        assert prune(connection, 0, NOW, after=3) == (5, 7)
        assert pruned(connection) == [1, 3, 5, 7]
        assert audit(connection).faults == []


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


def test_those_of_matches_that_ended_before_an_instant_are_pruned(data: Path) -> None:
    """Match 2 is still running, and match 3 ran for a long time."""
    ended = {1: 10, 3: 40, 4: 20, 5: 50}
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        for _ in range(5):
            begin(connection, players)
        for match_id, at in ended.items():
            finish(connection, MatchId(match_id), [1, 2])
            changed = update(schema.matches).where(schema.matches.c.id == match_id)
            connection.execute(changed.values(ended=at))
        assert {at: last_before(connection, at) for at in (10, 11, 40, 41, 50, 51)} == {
            10: 0,
            11: 2,
            40: 2,
            41: 4,
            50: 4,
            51: 5,
        }
        assert prune(connection, 0, NOW, through=last_before(connection, 10)) == ()
        assert prune(connection, 0, NOW, through=last_before(connection, 40)) == (1,), "all younger than match 3 stay"
        assert prune(connection, 2, NOW, through=last_before(connection, 51)) == (3,), "the newest two stay"
        assert prune(connection, 0, NOW, through=last_before(connection, 51)) == (4, 5)


def files(data: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in sorted((data / "replays").iterdir())}


@pytest.mark.sqlite_only("the replays are rows, not files")
def test_a_file_goes_when_none_of_its_replays_is_left_and_its_number_does_not_come_again(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.replays.files.FULL", 5 * PIECE)
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
    for _ in range(20):
        with open_to_amend(data) as connection:
            big(connection, begin(connection, players))
    assert [*files(data)] == [f"0000000{number}.gz" for number in (1, 2, 3, 4)]
    assert {5 * PIECE < size < 6 * PIECE for size in files(data).values()} == {True}
    with open_to_amend(data) as connection:
        assert len(prune(connection, 8, NOW)) == 12
        assert len(files(data)) == 4, "until that is committed"
        assert pruned(connection) == [*range(1, 13)]
    assert [*files(data)] == ["00000003.gz", "00000004.gz"]
    with open_to_amend(data) as connection:
        assert (use := disk_use(connection, data).replays[0]).kept == 8
        assert use.pruned == 12
        prune(connection, 0, NOW)
    assert files(data) == {}
    with open_to_amend(data) as connection:
        big(connection, begin(connection, players))
    assert [*files(data)] == ["00000005.gz"]


def test_what_is_rolled_back_is_neither_kept_nor_pruned(played: Path) -> None:
    def stop() -> None:
        with open_to_amend(played) as connection:
            prune(connection, 0, NOW)
            big(connection, begin(connection, [BotId(1), BotId(2)]))
            raise KeyboardInterrupt

    before = files(played)
    with pytest.raises(KeyboardInterrupt):
        stop()
    with open_to_amend(played) as connection:
        assert pruned(connection) == []
        finish(connection, begin(connection, [BotId(1), BotId(2)]), [1, 2])
        assert pruned(connection) == []
    assert files(played).keys() == before.keys()


@pytest.mark.sqlite_only("the replays are rows, not files")
def test_a_replay_that_is_pruned_while_it_is_looked_at_is_called_pruned(data: Path) -> None:
    """The reading transaction still sees the row, but the file is gone."""
    with open_to_amend(data) as connection:
        finish(connection, begin(connection, add_bots(connection, "Ada", "Bob")), [1, 2])
    with open_readonly(data) as reader:
        assert replays.content(reader, 1)
        with open_to_amend(data) as connection:
            prune(connection, 0, NOW)
        assert files(data) == {}
        with pytest.raises(ReplayPruned):
            matches.get_replay(reader, 1)
        made = audit(reader, replays=True)
        assert (made.replays, made.faults) == (0, [])


@pytest.mark.sqlite_only("the replays are rows, not files")
def test_disk_use_is_by_game_and_counts_every_file(played: Path) -> None:
    with open_to_amend(played) as connection:
        big(connection, begin(connection, [BotId(1), BotId(2)], "skat"))
        prune(connection, 3, NOW)
        lengths = [*connection.scalars(select(schema.replays.c.length))]
        use = disk_use(connection, played)
    games = {each.game: each for each in use.replays}
    assert games["skat"] == ReplayUse("skat", 1, 0, lengths[-1])
    assert lengths[-1] > PIECE
    assert games[GAME] == ReplayUse(GAME, 2, 3, sum(lengths[:-1]))
    assert use.replay_files == sum(files(played).values()) > sum(lengths)
    (played / "journal" / "00000001.log").write_bytes(bytes(77))
    with open_to_amend(played) as connection:
        use = disk_use(connection, played)
        assert use.journal == 77
        assert use.database >= (played / "arena.db").stat().st_size > 0
