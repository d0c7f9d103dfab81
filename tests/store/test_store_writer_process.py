"""The writer process of a real program: results, errors and order of jobs, and the end of either process."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from arena.store.base.directory import database_of
from arena.store.base.errors import LeaseLost, MatchNotPlaying, StoreLocked

pytestmark = pytest.mark.process

CHECKOUT = Path(__file__).parents[2]


def run(case: str, directory: Path) -> tuple[list[object], str, int]:
    """Return the JSON that the program printed, its stderr and its exit status."""
    command = [sys.executable, "-W", "error", "-m", "tests.store.writer_process_script", case, str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False, timeout=120)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr, done.returncode


@pytest.mark.sqlite_only("it has the driver's words")
def test_values_and_errors_are_those_of_a_writer_thread(directory: Path) -> None:
    (errors, names), said, status = run("results", directory)
    assert errors == [
        ["NameTaken", "the name 'ADA' is taken by 'Ada'; choose another", "Ada", False],
        ["ZeroDivisionError", "a fault", "", True],
        ["StoreError", "Strange: 1 and 2", "", False],
        ["IntegrityError", "(sqlite3.IntegrityError) NOT NULL constraint failed: bots.name", "", False],
    ]
    assert names == ["Ada"]
    assert (said, status) == ("", 0)


def test_waiting_jobs_run_in_order_even_if_their_callers_are_cancelled(directory: Path) -> None:
    (ended, names), said, status = run("order", directory)
    wanted = [f"bot{number:02}" for number in range(20)]
    assert ended == wanted
    assert names == ["gone", *wanted]
    assert (said, status) == ("", 0)


def test_closing_stores_what_was_asked_for_before_and_takes_no_more(directory: Path) -> None:
    assert run("last", directory) == (["Ada", "Bob"], "", 0)
    with database_of(directory).locked():
        pass  # no process has the database open any more


def test_the_end_of_a_writer_process_fails_all_waiting_jobs_and_ends_the_program(directory: Path) -> None:
    seen, said, status = run("death", directory)
    assert status == 1
    first, half_sent, late = map(str, seen)
    assert first.startswith("StoreError: the process that writes the database (pid ")
    assert first.endswith(") has ended; start the server again")
    assert half_sent == late == first
    assert first in said
    assert "BrokenPipeError" not in said


@pytest.mark.parametrize("error", [StoreLocked(Path("data"), 7), MatchNotPlaying(3, "void"), LeaseLost(7)], ids=type)
def test_errors_keep_their_text_and_fields_when_pickled(error: Exception) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)
