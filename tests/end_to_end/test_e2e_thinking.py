"""A bot's thinking time never counts as network delay, whatever it answers and when."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.e2e_rig import IMPATIENT, Crowd, RawBot, server, why

OFTEN = ("--heartbeat", "0.1", "--drain", "0", "--quiet")
THOUGHT = 0.6
"""Seconds per decision: twice the soft limit, so that the time bank is soon empty."""


def trips(seat: dict[str, Any]) -> list[float]:
    """Return the round trips of a seat's decisions in milliseconds."""
    return [sent["round_trip_ms"] for decision in seat["decisions"] for sent in decision["sent"]]


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="the system does not tell")
def test_a_client_that_answers_heartbeats_only_between_thoughts_gains_nothing(tmp_path: Path) -> None:
    """The bot has one thread, so all its answers are late."""

    class Sleeps(RawBot):
        def answer(self, *decisions: Any, action: int | None = None) -> None:
            time.sleep(THOUGHT)
            super().answer(*decisions, action=action)

    with server(tmp_path / "data", *OFTEN, program=IMPATIENT) as arena, Crowd(arena.address) as crowd:
        opponent = crowd.come("quick").play_in_background()
        sleeper = Sleeps(arena.address, crowd.token("sleeper"))
        try:
            sleeper.play_until(lambda: sleeper.reports)
        finally:
            sleeper.close()
        seat = why(arena.address, opponent.reports[0].match_id, "sleeper")
    assert seat["lost"]["time"] > 0
    assert set(seat["troubles"]) == {"bot"}
    assert max(trips(seat)) < 50
