"""Thinking times of bots: sums, compared with the match's timeline."""

from __future__ import annotations

import pytest

from arena.analysis.timeline import SeatTimeline
from arena.analysis.timeline_builder import timelines
from arena.match.inputs import Acted, Instant, Sent
from arena.match.policy import Policy
from arena.replay.read import read
from arena.replay.record import encode, record
from arena.replay.thinking import Stopwatch, Thinking
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import play


def told(seat: SeatTimeline, policy: Policy) -> Thinking:
    own = [each for each in seat.decisions if each.own]
    times = [
        max(0, (each.made or 0) - each.sendings[-1].at - min(each.sendings[-1].lag, policy.lag_allowance))
        for each in own
        if each.sendings
    ]
    return Thinking(len(seat.decisions), len(seat.decisions) - len(own), tuple(sorted(times)))


@pytest.mark.parametrize("stays_away", [False, True])
@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN])
@pytest.mark.parametrize("chance", range(4))
def test_figures_are_those_of_the_timeline(game: object, chance: int, stays_away: bool) -> None:
    header, entries = play(game=game, chance=chance, stays_away=stays_away)  # type: ignore[arg-type]
    found = record(header, entries).thinking()
    replay = read(encode(header, entries))
    seats = timelines(replay.header, replay.inputs)
    assert [each._replace(times=tuple(sorted(each.times))) for each in found] == [
        told(seat, header.policy) for seat in seats
    ]
    assert sum(each.missed for each in found) > 0


def test_the_round_trip_is_taken_off_up_to_the_allowance() -> None:
    stopwatch = Stopwatch(1, lag_allowance=100)
    for number, sent, lag, acted in ((1, 1000, 50, 1500), (2, 2000, 700, 2150), (3, 3000, 90, 3010)):
        stopwatch.due(0, number)
        stopwatch.sent(Sent(Instant(sent), 0, number, lag))
        stopwatch.made(Acted(Instant(acted), 0, number, 1))
    assert stopwatch.thinking() == (Thinking(3, 0, (450, 50, 0)),)


def test_a_sending_of_what_is_not_due_to_the_seat_starts_no_clock() -> None:
    stopwatch = Stopwatch(2, lag_allowance=100)
    stopwatch.due(0, 1)
    stopwatch.due(1, 2)
    for seat, decision in ((1, 1), (0, 2), (-1, 1), (2, 1)):
        stopwatch.sent(Sent(Instant(5), seat, decision, 0))
    stopwatch.made(Acted(Instant(9), 0, 1, 1))
    stopwatch.sent(Sent(Instant(10), 1, 2, 0))
    stopwatch.due(1, 3)
    stopwatch.made(Acted(Instant(20), 1, 3, 1))
    assert stopwatch.thinking() == (Thinking(1, 0, ()), Thinking(2, 1, ()))
