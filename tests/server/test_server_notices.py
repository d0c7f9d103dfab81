"""Notices of a match: each field has the same meaning in all kinds of notices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from arena.match.effects import Back, Cause, Force, Gone, Hold, Refusal, Refuse, Release, Substitute, Suspend
from arena.server.matches.notices import Attendance, Conduct, NoticeTexts
from engine.registry import GAMES

TEXTS = NoticeTexts(7, ["ann", "bob"], "house-random", GAMES["nullern"].actions)
REJECTED = {"match_id": 7, "decision": 3, "rejected_action": 5}


def stated(notice: Any) -> dict[str, Any]:
    """Return the fields of a notice other than its kind and text."""
    return {key: value for key, value in asdict(notice).items() if value not in (None, ())} | {"kind": 0, "text": 0}


@pytest.mark.parametrize(
    ("effect", "fields"),
    [
        (Refuse(0, 3, 5, Refusal.ILLEGAL, (1, 2), 0), REJECTED | {"legal": (1, 2), "left": 0}),
        (Refuse(0, 3, 5, Refusal.ILLEGAL, (1, 2), 900_000), REJECTED | {"legal": (1, 2), "left": 900_000}),
        (Refuse(0, 3, 5, Refusal.ILLEGAL, (), 0), REJECTED),
        (Refuse(0, 3, 5, Refusal.STALE, (), 250_000), REJECTED | {"late": 250_000}),
        (Refuse(0, 3, 5, Refusal.STALE, (), 0), REJECTED),
        (Refuse(0, 3, 5, Refusal.SUBSTITUTED, (), 0), REJECTED),
        (Refuse(0, 3, 5, Refusal.UNKNOWN, (), 0), REJECTED),
        (Force(0, 3, 5, Cause.TIME), {"match_id": 7, "decision": 3, "chosen_action": 5}),
        (Force(0, 3, 5, Cause.ILLEGALITY), {"match_id": 7, "decision": 3, "chosen_action": 5}),
        (Suspend(0), {"match_id": 7}),
    ],
)
def test_a_notice_to_one_seat_has_only_the_fields_of_its_event(effect: Conduct, fields: dict[str, Any]) -> None:
    assert stated(TEXTS.to_seat(effect)) == fields | {"kind": 0, "text": 0}


@pytest.mark.parametrize(
    ("effect", "fields"),
    [
        (Gone(1, 30_000_000), {"seat": 1, "return_time": 30_000_000}),
        (Gone(1, 0), {"seat": 1, "return_time": 0}),
        (Substitute(1), {"seat": 1}),
        (Back(1), {"seat": 1}),
        (Hold(60_000_000), {"hold": 60_000_000}),
        (Release(), {}),
    ],
)
def test_a_notice_to_the_table_has_only_the_fields_of_its_event(effect: Attendance, fields: dict[str, Any]) -> None:
    assert stated(TEXTS.to_all(effect)) == fields | {"match_id": 7, "kind": 0, "text": 0}
