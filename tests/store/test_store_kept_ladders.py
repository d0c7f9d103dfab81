"""Old ladders: which ones are stored, and for how long. They equal the published ladders."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Connection, func, select

from arena.ladder.ladder import Ladder
from arena.store import schema
from arena.store.base.rows import microseconds
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import DAY, HOUR, keep, publish, published_until
from arena.store.moderation import moderation
from arena.store.opening import open_to_amend
from tests.store.jobs import GAME, add_bots
from tests.store.test_store_publishing import play

NOON = microseconds(datetime(2026, 3, 5, 12, tzinfo=UTC))
MINUTE = 60_000_000


@pytest.fixture
def data_played(data: Path) -> Path:
    with open_to_amend(data) as connection:
        play(connection, Random(1), add_bots(connection, *(f"bot{number}" for number in range(6))), 60)
    return data


def kept(connection: Connection) -> list[int]:
    """Return the times at which the stored ladders were published, in microseconds after noon."""
    found = connection.scalars(select(schema.kept_ladders.c.at).order_by(schema.kept_ladders.c.at))
    return [at - NOON for at in found]


def fitted(connection: Connection) -> Ladder:
    return Fits().ladder(connection, GAME)


def test_a_published_ladder_is_found_by_its_time_as_it_was(data_played: Path) -> None:
    with open_to_amend(data_played) as connection:
        first = fitted(connection)
        publish(connection, GAME, first, NOON)
        play(connection, Random(2), [*connection.scalars(select(schema.bots.c.id))], 60)
        second = fitted(connection)
        publish(connection, GAME, second, NOON + HOUR)
        assert published_until(connection, GAME, GAME, NOON - 1).published is None
        assert published_until(connection, "another", GAME, NOON + HOUR).standings == ()
        for at, ladder in ((NOON, first), (NOON + HOUR - 1, first), (NOON + HOUR, second), (NOON + DAY, second)):
            past = published_until(connection, GAME, GAME, at)
            assert (past.through, past.digest, past.scale_error) == (
                ladder.through,
                ladder.digest,
                ladder.field.scale_error,
            )
            assert past.published is not None
            assert microseconds(past.published) == NOON + HOUR * (ladder is second)
            for row, line in zip(past.standings, ladder.lines, strict=True):
                assert (row.rating, row.deviation, row.fitted, row.fitted_deviation) == (
                    line.shrunk,
                    line.shrunk_error,
                    line.rating,
                    line.error,
                )
                assert (row.rank, row.rank_low, row.rank_high, row.best) == (
                    line.rank,
                    line.rank_low,
                    line.rank_high,
                    line.best,
                )
                assert (row.matches, row.opponents) == (line.matches, line.opponents)


def test_a_bot_of_the_past_has_its_name_of_today(data_played: Path) -> None:
    with open_to_amend(data_played) as connection:
        publish(connection, GAME, fitted(connection), NOON)
        moderation.rename(connection, "bot0", "ann", "a test", NOON)
        moderation.hide(connection, "bot1", "a test", NOON)
        rows = {row.bot: row for row in published_until(connection, GAME, GAME, NOON).standings}
        assert set(rows) == {"ann", *(f"bot{number}" for number in range(1, 6))}
        assert rows["bot1"].owner == ""
        assert rows["bot2"].owner != ""


def test_all_of_a_day_stay_then_the_last_of_an_hour_then_that_of_a_day(data_played: Path) -> None:
    with open_to_amend(data_played) as connection:
        ladder = fitted(connection)

        def made(at: int) -> None:
            keep(connection, GAME, replace(ladder, digest=str(at)), NOON + at)

        for at in (0, 10 * MINUTE, 50 * MINUTE, 70 * MINUTE, 80 * MINUTE, 5 * HOUR):
            made(at)
        keep(connection, "another", ladder, NOON + 5 * MINUTE)
        made(DAY)
        assert kept(connection) == [*(0, 5 * MINUTE, 10 * MINUTE, 50 * MINUTE, 70 * MINUTE, 80 * MINUTE, 5 * HOUR, DAY)]
        made(DAY + 65 * MINUTE)
        assert kept(connection) == [
            *(5 * MINUTE, 50 * MINUTE, 70 * MINUTE, 80 * MINUTE, 5 * HOUR, DAY, DAY + 65 * MINUTE)
        ]
        made(20 * DAY)
        assert kept(connection) == [*(5 * MINUTE, 50 * MINUTE, 80 * MINUTE, 5 * HOUR, DAY, DAY + 65 * MINUTE, 20 * DAY)]
        made(31 * DAY + HOUR)
        assert kept(connection) == [5 * MINUTE, 5 * HOUR, DAY + 65 * MINUTE, 20 * DAY, 31 * DAY + HOUR]
        made(400 * DAY)
        assert kept(connection) == [*(5 * MINUTE, 5 * HOUR, DAY + 65 * MINUTE, 20 * DAY, 31 * DAY + HOUR, 400 * DAY)]
        ladders = select(schema.kept_ladders.c.id)
        lost = select(func.count()).where(schema.kept_standings.c.ladder_id.not_in(ladders))
        assert connection.scalar(lost) == 0


def test_a_ladder_that_is_published_again_is_kept_once(data_played: Path) -> None:
    with open_to_amend(data_played) as connection:
        for at in range(3):
            publish(connection, GAME, fitted(connection), NOON + at)
        assert kept(connection) == [0]


@pytest.mark.thorough
def test_years_of_fits_leave_few(data_played: Path) -> None:
    with open_to_amend(data_played) as connection:
        ladder = replace(fitted(connection), lines=())
        for quarter in range(4 * 24 * 40):  # every quarter of an hour for forty days
            keep(connection, GAME, replace(ladder, digest=str(quarter)), NOON + quarter * HOUR // 4)
        days, hours, all_ = 10, 29 * 24, 4 * 24
        assert len(kept(connection)) == pytest.approx(days + hours + all_, abs=26)
