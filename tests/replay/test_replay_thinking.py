"""How bots used their time: the figures that add up, against the course of the match as its timeline tells it."""

from __future__ import annotations

import pytest

from arena.match.effects import Ask
from arena.match.inputs import Acted, Begun, Instant, Sent
from arena.match.policy import Policy
from arena.replay.header import Entry
from arena.replay.read import read
from arena.replay.record import encode, record
from arena.replay.thinking import Stopwatch, Thinking
from arena.replay.timeline import SeatTimeline
from arena.replay.watch import timelines
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
    stopwatch = Stopwatch(1, allowance=100)
    view: object = None
    asks = [Ask(0, number, (1,), view, 1, 1) for number in (1, 2, 3)]  # type: ignore[arg-type]
    entries: list[Entry] = [
        (Begun(Instant(0)), [asks[0]]),
        (Sent(Instant(1000), 0, 1, 50), []),
        (Acted(Instant(1500), 0, 1, 1), [asks[1]]),
        (Sent(Instant(2000), 0, 2, 700), []),
        (Acted(Instant(2150), 0, 2, 1), [asks[2]]),
        (Sent(Instant(3000), 0, 3, 90), []),
        (Acted(Instant(3010), 0, 3, 1), []),
    ]
    for event, effects in entries:
        stopwatch.add(event, effects)
    assert stopwatch.thinking() == (Thinking(3, 0, (450, 50, 0)),)
