"""Results by opponent agree with the matches, even for bots hidden later. A long history does not slow a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.queries.profile import profile
from arena.store.base.errors import UnknownBot
from arena.store.ladder import events
from arena.store.ladder import opponents as module
from arena.store.ladder.opponents import opponents
from arena.store.matches import matches
from arena.store.moderation import moderation
from arena.store.opening import open_readonly, open_to_amend
from engine.nullern import NULLERN
from tests.cli.web_data import DAY, directory_of
from tests.replay.recorded import STARTED


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return directory_of(tmp_path_factory.mktemp("opponents") / "data", 3, 4, 2, 3)


def test_they_are_those_of_a_profile_of_the_same_matches(data: Path) -> None:
    with open_readonly(data) as connection:
        for bot in ("bot-0", "bot-1", "bot-3"):
            for last in (2, 1000):
                found = profile(matches.list_matches(connection, game="sixth_sense", bot=bot, limit=last), bot)
                assert found is not None
                rows = opponents(connection, bot.upper(), "sixth_sense", last=last)
                assert [(row.opponent, row.matches) for row in rows] == [
                    (each.opponent, each.matches) for each in found.opponents
                ]
                for row, each in zip(rows, found.opponents, strict=True):
                    assert (row.score, row.error) == pytest.approx((each.score, each.error))
        assert opponents(connection, "bot-0", NULLERN.name) == ()
        with pytest.raises(UnknownBot):
            opponents(connection, "nobody", NULLERN.name)


def test_pages_follow_each_other(data: Path) -> None:
    with open_readonly(data) as connection:
        all_of_them = opponents(connection, "bot-0", "sixth_sense")
        assert len(all_of_them) == 3
        pages = [opponents(connection, "bot-0", "sixth_sense", 1, after) for after in range(4)]
    assert pages == [*((row,) for row in all_of_them), ()]


def test_a_void_result_counts_no_more_and_who_was_hidden_is_said(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2, 3)
    with open_to_amend(path) as connection:
        events.add_void(connection, 1, "a fault", STARTED + DAY)
        moderation.hide(connection, "bot-1", "", STARTED + DAY)
        moderation.delete(connection, "bot-2", "", STARTED + DAY)
        rows = opponents(connection, "bot-0", "sixth_sense")
    assert [(row.matches, row.hidden, row.deleted) for row in sorted(rows, key=lambda row: row.opponent)] == [
        (1, True, False),
        (1, False, True),
    ]


def test_no_more_is_looked_at_than_is_said(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 2)
    with open_readonly(data) as connection:
        newest = opponents(connection, "bot-0", "sixth_sense")
        assert newest == opponents(connection, "bot-0", "sixth_sense", last=2)
    assert sum(row.matches for row in newest) == 3, "of tables of two and of three"
