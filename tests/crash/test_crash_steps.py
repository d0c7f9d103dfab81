"""A server that dies at each named step of a match's end, of its beginning, of a move, of the journal, of a restart."""

from __future__ import annotations

from pathlib import Path

from tests.crash.crash_rig import seed, trial

DEATHS = (
    # the end of a match, in its order
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
    ("before everybody gets up", 1),
    # its beginning, and the restart after it
    ("the match is in the journal", 2),
    ("before the beginning is committed", 1),
    ("the match is stored", 2),
    ("before matches are restored", 1),
    ("a match is restored", 3),
    ("a match goes on", 5),
    ("before the doors open", 1),
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
"""Where each server dies, and at which time it comes there."""


def test_a_death_at_each_step_costs_no_match_and_changes_none(tmp_path: Path) -> None:
    with trial(tmp_path, seed()) as it:
        it.start()
        assert it.listens(), it.last_words
        it.come()
        it.kill()
        for step, time in DEATHS:
            print(f"{step} ({time})")
            it.start("tests.crash.dying_server", step, str(time))
            it.dead()
        it.finish()
