"""An event of 25 bots, killed twice in mid-round: no table is lost, doubled or charged, and the bundle verifies
elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.replay.header import MatchKind
from arena.store import schema
from arena.store.base.rows import MatchRow, MatchState
from arena.store.matches import contests, matches
from arena.store.matches.contests import StoredEvent
from arena.store.opening import open_readonly
from tests.cli.cli_rig import shown
from tests.crash.crash_rig import Trial, seed, trial, until

BOTS = 25
BUDGET = 50
WIDE = ("bot3", "bot11")
"""Bots with room for a second match, which they play on the ladder."""
EVENT = "friday"


def found(it: Trial) -> tuple[StoredEvent, list[MatchRow], int]:
    """Return the event, its matches and the number of its rounds."""
    with open_readonly(it.data) as connection:
        event = contests.find(connection, EVENT)
        listed = matches.list_matches(connection, limit=10_000)
        return event, [row for row in listed if row.kind is MatchKind.EVENT], len(contests.rolls(connection, event.id))


def in_round(it: Trial, rounds: int) -> bool:
    """Return True if at least `rounds` rounds have begun and at least two tables are playing."""
    _, played, begun = found(it)
    return begun >= rounds and sum(row.state is MatchState.PLAYING for row in played) >= 2


@pytest.mark.long
def test_an_event_of_25_bots_survives_two_kills_in_mid_round(tmp_path: Path) -> None:
    with trial(tmp_path, seed(), bots=BOTS, capacity=1, thinks=0.01) as it:
        it.capacities |= dict.fromkeys(WIDE, 2)
        it.start()
        assert it.listens(), it.last_words
        create = ("--ladder", "sixth_sense", "--seats", 3, "--start", "+1h", "--budget", BUDGET, "--data", it.data)
        shown("event", "create", EVENT, *create)
        it.come(EVENT)
        it.play()
        shown("event", "start", EVENT, "--data", it.data)
        for rounds in (2, 4):
            until(partial(in_round, it, rounds), f"tables of round {rounds}")
            it.kill()
            assert any(row.state is MatchState.PLAYING for row in found(it)[1]), "it died in mid-round"
            it.start()
            assert it.listens(), it.last_words
        until(lambda: found(it)[0].over, "the end of the event")
        it.stop()
        it.finish()
        event, played, _ = found(it)
        with open_readonly(it.data) as connection:
            tables = contests.tables(connection, event.id)
            troubles = connection.scalars(select(schema.bots.c.troubles)).all()
            rated = [
                row
                for row in matches.list_matches(connection, limit=10_000)
                if row.kind is MatchKind.RATED
                and min(each.match_id for each in played) < row.match_id < max(each.match_id for each in played)
            ]
        result = json.loads(event.result)
        assert [table.number for table in tables] == [*range(result["matches"])]
        assert sorted(row.match_id for row in played) == sorted(table.match_id for table in tables)
        assert {row.state for row in played} == {MatchState.FINISHED}
        assert {*troubles} == {"[]"}
        assert {seat.forced for row in played for seat in row.seats} == {0}
        assert {*WIDE} <= {seat.bot for row in rated for seat in row.seats}
        assert len(result["standings"]) == BOTS
        bundle = tmp_path / "friday.bundle"
        shown("event", "export", EVENT, bundle, "--data", it.data)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-I", "-m", "arena.cli", "event", "verify", str(bundle), "--json"]
    checked = subprocess.run(command, cwd=elsewhere, env={}, capture_output=True, text=True, check=True)
    assert json.loads(checked.stdout)["result"] == result
