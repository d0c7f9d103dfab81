"""Pauses after failed invitations, and answers that bots owe."""

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
        """Wait until the pauses are over. Return the time since time 0."""
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


@pytest.mark.parametrize("how", [OfferOutcome.DECLINED, OfferOutcome.SILENT, OfferOutcome.LEFT])
def test_invitations_that_fail_together_count_one_by_one(how: OfferOutcome) -> None:
    rig = Rig()
    for _ in range(8):
        rig.fail(0.0, how)
    assert (rig.failed[how], rig.until()) == (8, 60)


@pytest.mark.parametrize(("charged", "pause"), [(True, 1.0), (False, 0.0)])
def test_nobody_waits_for_the_answer_of_a_bot_that_left(charged: bool, pause: float) -> None:
    rig = Rig()
    rig.forgo(0.0, charged)
    assert rig.invitable, "it owed no answer"
    rig.owe_answer(7, 30.0)
    rig.forgo(1.0, charged)
    assert not rig.answer(7)
    assert rig.failed[OfferOutcome.LEFT] == int(charged)
    assert rig.deadline == (1.0 + pause if charged else math.inf)
    assert rig.invitable is not charged


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
