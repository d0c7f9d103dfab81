"""A program that analyses a match in a separate process. It reads the replay, and after each seat sends all results so
far.

The process has the lowest priority, so that neither a server nor the pages wait for it. It ends with its parent.
"""

from __future__ import annotations

from dataclasses import replace

from arena.analysis.game_review import GameReview, document
from arena.processes.launch import give_way
from arena.processes.parent import Parent, connected
from arena.replay.read import read


def main() -> None:
    """Analyse the replay that the parent sends. If that fails, send the reason."""
    give_way(19)
    with connected() as parent:
        for replay in parent.receive():
            try:
                _analyse(replay, parent)
            except Exception as error:  # noqa: BLE001 - the pages show whatever the reason is
                parent.send([f"{type(error).__name__}: {error}"])


def _analyse(replay: bytes, parent: Parent) -> None:
    """Compare each seat's points with those of a house bot. Then find the costliest choices, seat by seat."""
    review = GameReview(read(replay))
    seats = review.seats()
    parent.send([document(review, seats)])
    for seat in range(len(seats)):
        seats[seat] = replace(seats[seat], costly=review.costly(seat))
        parent.send([document(review, seats)])


if __name__ == "__main__":
    main()
