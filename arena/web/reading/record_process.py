"""Reads replays in a separate process and returns each seat's results by round.

It runs at the lowest priority, so that neither a server nor the pages wait for it, and ends with its parent.
"""

from __future__ import annotations

from arena.processes.launch import give_way
from arena.processes.parent import connected
from arena.replay.read import read
from arena.replay.render.show import RoundResult, ShowError, round_results
from arena.replay.replay import ReplayError
from arena.replay.steps import Course


def main() -> None:
    """Answer the parent's requests until the input ends."""
    give_way(19)
    with connected() as parent:
        while replays := parent.receive():
            for replay in replays:
                parent.send([_rounds(replay)])


def _rounds(replay: bytes) -> tuple[RoundResult, ...] | None:
    """Return the results of a replay's rounds; None if it cannot be read."""
    try:
        return round_results(Course(read(replay)))
    except (ReplayError, ShowError):
        return None


if __name__ == "__main__":
    main()
