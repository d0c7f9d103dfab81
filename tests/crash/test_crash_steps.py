"""A server that dies at each named step of a registration, of a match's beginning and end, of a move, or of a
restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.crash.crash_rig import seed, trial
from tests.crash.dying_server import STEPS

AT_REGISTRATION = (
    ("before a registration is committed", 2),
    ("a registration is stored", 1),
    ("a registration is stored", 2),
)
"""Steps at which the first servers die, while bots register."""
DEATHS = (
    # the end of a match, in chronological order
    ("the result is computed", 3),
    ("before the transaction", 1),
    ("before the ratings", 2),
    ("before the commit", 2),
    ("after the commit", 1),
    ("the journal has forgotten", 2),
    ("before the report", 1),
    ("the report waits", 3),
    ("before the report leaves", 2),
    ("the report has left", 1),
    ("before the seats are released", 1),
    # the beginning of a match, and the restart after it
    ("the match is in the journal", 2),
    ("before the beginning is committed", 1),
    ("the match is stored", 2),
    ("before matches are restored", 1),
    ("a match is restored", 3),
    ("a match goes on", 5),
    ("before the server listens", 1),
    ("the match has begun", 1),
    # a move
    ("before the journal is written", 300),
    ("before questions leave", 100),
    ("questions have left", 100),
    # the files of the journal
    ("the journal is copied", 1),
    ("the journal has a new file", 1),
    ("a full journal", 1),
    ("the journal has a new file", 2),
)
"""The step at which each later server dies, and the number of times it reaches the step, including the last."""


def run(directory: Path, chosen: str, deaths: Sequence[tuple[str, int]]) -> None:
    with trial(directory, chosen, capacity=4) as it:
        it.come()
        for step, time in AT_REGISTRATION:
            print(f"{step} ({time})")
            it.start(step, time)
            it.dead()
        it.start()
        assert it.listens(), it.last_words
        it.play()
        it.kill()
        for step, time in deaths:
            print(f"{step} ({time})")
            it.start(step, time)
            it.dead()
        it.finish()
        assert it.lived_through > 0


def test_every_step_is_tried() -> None:
    assert {step for step, _ in AT_REGISTRATION + DEATHS} == STEPS.keys()


@pytest.mark.parametrize("number", [12, pytest.param(len(DEATHS), marks=pytest.mark.long)])
def test_a_death_at_each_step_costs_no_match_and_changes_none(tmp_path: Path, number: int) -> None:
    """Try steps that the seed selects, in the order of the list. With `--long`, try all steps."""
    chosen = seed()
    drawn = sorted(Random(chosen).sample(range(len(DEATHS)), number))
    run(tmp_path, chosen, [DEATHS[each] for each in drawn])


@pytest.mark.long
def test_a_hundred_deaths_at_steps_in_any_order_cost_no_match_and_change_none(tmp_path: Path) -> None:
    chosen = seed()
    chance = Random(chosen)
    # A start reaches these steps only once, or once per match, so a higher number of times would never come.
    most = {
        "the journal is copied": 1,
        "before matches are restored": 1,
        "before the server listens": 1,
        "a match goes on": 5,
    }
    deaths = [(step, chance.randint(1, most.get(step, 2 * time))) for step, time in DEATHS * 4]
    chance.shuffle(deaths)
    run(tmp_path, chosen, deaths)
