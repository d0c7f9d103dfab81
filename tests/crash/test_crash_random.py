"""A server that is killed at random moments, repeatedly, while bots play many matches. No match is lost or changed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.crash.crash_rig import Trial, seed, trial


def run(directory: Path, kills: int, capacity: int = 4, thinks: float = 0.02, *, search: bool = False) -> None:
    with trial(directory, seed(), capacity=capacity, thinks=thinks, search=search) as it:
        it.begin()
        it.kill()
        while it.kills < kills:
            it.start()
            _one_more_end(it)
        it.finish()
        assert it.lived_through > 0


def _one_more_end(it: Trial) -> None:
    """Kill the server at a random moment: while it starts, while bots return, or during play. Sometimes stop it cleanly
    instead.
    """
    way = it.chance.random()
    if way < 0.2:
        _moment(it, 0.6)
        it.kill()
        return
    assert it.listens(), it.last_words
    _moment(it, 0.5 if way < 0.4 else 3.0)
    if way < 0.9:
        it.kill()
        if way < 0.5:
            it.tear()
    else:
        it.stop()


def _moment(it: Trial, longest: float) -> None:
    """Pause for a random time, so that the end comes at a random moment."""
    time.sleep(it.chance.uniform(0.0, longest))


def test_kills_at_random_moments_cost_no_match_and_change_none(tmp_path: Path) -> None:
    run(tmp_path, 10)


@pytest.mark.long
def test_a_hundred_kills_under_hundreds_of_matches_cost_none_and_change_none(tmp_path: Path) -> None:
    run(tmp_path, 105, capacity=60, thinks=0.05, search=True)
