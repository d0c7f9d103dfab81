"""The clerk beside a program of its own: what jobs give and raise, their order, and both ends of the line."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from arena.store.directory import locked
from arena.store.errors import EventsGone, MatchNotPlaying, StoreLocked

CHECKOUT = Path(__file__).parents[2]


def run(case: str, directory: Path) -> tuple[list[object], str, int]:
    """What a program saw, what it said, and its status."""
    command = [sys.executable, "-W", "error", "-m", "tests.store.clerk_script", case, str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False, timeout=120)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr, done.returncode


def test_values_and_errors_are_those_that_a_thread_would_give(directory: Path) -> None:
    (errors, names), said, status = run("results", directory)
    assert errors == [
        ["NameTaken", "the name 'ADA' is taken by 'Ada'; choose another", "Ada", False],
        ["ZeroDivisionError", "a fault", "", True],
        ["StoreError", "Strange: 1 and 2", "", False],
        ["IntegrityError", "(sqlite3.IntegrityError) NOT NULL constraint failed: bots.name", "", False],
    ]
    assert names == ["Ada"]
    assert (said, status) == ("", 0)


def test_what_waits_is_done_in_its_order_whoever_stops_waiting(directory: Path) -> None:
    (ended, names), said, status = run("order", directory)
    wanted = [f"bot{number:02}" for number in range(20)]
    assert ended == wanted
    assert names == ["gone", *wanted]
    assert (said, status) == ("", 0)


def test_closing_stores_what_was_asked_for_before_and_takes_no_more(directory: Path) -> None:
    assert run("last", directory) == (["Ada", "Bob"], "", 0)
    with locked(directory):
        pass  # nobody holds it any more


def test_a_clerk_that_ends_is_told_to_all_who_wait_and_ends_the_program(directory: Path) -> None:
    seen, said, status = run("death", directory)
    assert status == 1
    first, half_sent, late = map(str, seen)
    assert first.startswith("StoreError: the process that writes the database (pid ")
    assert first.endswith(") has ended; start the server again")
    assert half_sent == late == first
    assert first in said
    assert "BrokenPipeError" not in said


@pytest.mark.parametrize(
    "error", [StoreLocked(Path("data"), 7), MatchNotPlaying(3, "void"), EventsGone("whist", 2, 1)], ids=type
)
def test_errors_say_the_same_after_a_journey(error: Exception) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)
