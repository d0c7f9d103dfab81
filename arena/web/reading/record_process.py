"""A program that reads replays in a separate process and returns each seat's results by round and its times.

The process has the lowest priority, so that neither a server nor the pages wait for it. It ends with its parent.
"""

from __future__ import annotations

from typing import Any

from arena.analysis.timeline import SeatTimeline
from arena.analysis.timeline_builder import timelines
from arena.ladder.think_times import histogram
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
    """Return the fields of a `MatchRecord`, or None if the replay cannot be read."""
    try:
        replay = read(content)
        course = Course(replay)
        rounds = round_results(course)
    except (ReplayError, ShowError):
        return None
    bank, played_on = replay.header.policy.bank, course.played_on
    return rounds, [(*_times(seat, bank), played_on.get(seat.seat)) for seat in timelines(replay.header, replay.inputs)]


def _times(seat: SeatTimeline, bank: int) -> tuple[dict[int, int], float | None]:
    """Return a histogram of thinking times, and the share left of `bank`, which is in microseconds."""
    own = [each.spent for each in seat.decisions if each.own and each.sendings]
    return dict(histogram(own)), None if seat.bank is None or not bank or not own else seat.bank / bank


if __name__ == "__main__":
    main()
