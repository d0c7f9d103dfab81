"""Pauses after failed invitations, and words that are owed."""

from __future__ import annotations

import math

import pytest

from arena.replay.header import OfferOutcome
from arena.server.sessions.availability import Availability


class Rig(Availability):
    def __init__(self) -> None:
        self.changes = 0
        super().__init__(self._count, lambda _: None)

    def _count(self) -> None:
        self.changes += 1

    def until(self) -> float:
        """Pauses to the end; how long it took from instant 0."""
        end = self.deadline
        self.on_timer(end)
        return end


def test_pauses_double_up_to_a_minute_and_begin_anew_once_it_has_played() -> None:
    rig = Rig()
    pauses = []
    for _ in range(9):
        rig.fail(0.0, OfferOutcome.DECLINED)
        assert not rig.invitable
        pauses.append(rig.until())
        assert rig.invitable
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert rig.doubtful
    rig.played()
    assert not rig.doubtful
    rig.fail(100.0, OfferOutcome.SILENT)
    assert rig.deadline == 101.0
    assert rig.failed == {OfferOutcome.DECLINED: 9, OfferOutcome.SILENT: 1, OfferOutcome.LEFT: 0}


def test_a_word_that_is_owed_keeps_further_invitations_away_and_fails_when_it_does_not_come() -> None:
    rig = Rig()
    assert rig.deadline == math.inf
    rig.owe_answer(7, 30.0)
    rig.owe_answer(8, 31.0)
    assert not rig.invitable
    assert rig.answer(7)
    assert not rig.answer(7), "once"
    assert rig.deadline == 31.0
    rig.on_timer(31.0)
    assert rig.failed[OfferOutcome.SILENT] == 1
    assert rig.deadline == pytest.approx(32.0)
    assert not rig.invitable
    rig.on_timer(32.0)
    assert rig.invitable
    assert rig.changes == 5, "whoever forms tables hears of every change"


def test_what_fails_during_a_pause_makes_it_no_longer() -> None:
    rig = Rig()
    for number in range(8):
        rig.owe_answer(number, 30.0 + number / 5)
    for _ in range(8):
        rig.on_timer(rig.deadline)
    assert rig.failed[OfferOutcome.SILENT] == 8
    assert rig.invitable, "the pause after the first is over when the last is waited for no longer"
    rig.fail(40.0, OfferOutcome.DECLINED)
    rig.fail(40.5, OfferOutcome.DECLINED)
    assert rig.deadline == 42.0, "the second pause"


def test_a_pause_is_over_with_the_last_word_if_that_comes_later() -> None:
    rig = Rig()
    rig.owe_answer(7, 30.0)
    rig.fail(0.0, OfferOutcome.DECLINED)
    assert rig.deadline == 30.0
    rig.on_timer(1.0)
    assert not rig.invitable
    assert rig.answer(7)
    rig.on_timer(rig.deadline)
    assert rig.invitable


@pytest.mark.parametrize(("charged", "until"), [(True, 6.0), (False, math.inf)])
def test_no_word_is_waited_for_once_its_session_is_over(charged: bool, until: float) -> None:
    rig = Rig()
    rig.expect_no_answer(5.0, charged=True)
    assert not rig.doubtful, "none was owed"
    for number in range(3):
        rig.owe_answer(number, 30.0)
    rig.expect_no_answer(5.0, charged)
    assert rig.failed[OfferOutcome.LEFT] == 3 * charged
    assert (rig.deadline, rig.invitable) == (until, not charged)
