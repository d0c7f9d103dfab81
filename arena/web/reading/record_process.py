"""Reads replays in a separate process and returns each seat's results by round and its times.

It runs at the lowest priority, so that neither a server nor the pages wait for it, and ends with its parent.
"""

from __future__ import annotations

from typing import Any

from arena.analysis.timeline import SeatTimeline
from arena.analysis.timeline_builder import timelines
from arena.ladder.think_times import histogram
from arena.match.effects import Cause
from arena.processes.launch import give_way
from arena.processes.parent import connected
from arena.replay.read import read
from arena.replay.render.show import ShowError, round_results
from arena.replay.replay import ReplayError
from arena.replay.steps import Course


def main() -> None:
    """Answer the parent's requests until the input ends."""
    give_way(19)
    with connected() as parent:
        while replays := parent.receive():
            for replay in replays:
                parent.send([_record(replay)])


def _record(content: bytes) -> tuple[Any, ...] | None:
    """Return the fields of a `MatchRecord`; None if the replay cannot be read."""
    try:
        replay = read(content)
        rounds = round_results(Course(replay))
    except (ReplayError, ShowError):
        return None
    bank = replay.header.policy.bank
    return rounds, [_pace(seat, bank) for seat in timelines(replay.header, replay.inputs)]


def _pace(seat: SeatTimeline, bank: int) -> tuple[Any, ...]:
    """Return the fields of a `SeatPace`. `bank`: microseconds in it at the beginning."""
    own = [each.spent for each in seat.decisions if each.own and each.sendings]
    played_on = next((each.round + 1 for each in seat.decisions if each.forced is Cause.ABSENCE), None)
    return dict(histogram(own)), None if seat.bank is None or not bank or not own else seat.bank / bank, played_on


if __name__ == "__main__":
    main()
