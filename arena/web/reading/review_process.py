"""Works a match out in a process of its own: reads its replay, writes what is found so far, a JSON line each time.

It runs at the lowest priority, so that neither a server nor the pages wait for it.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

from arena.client.game_review import GameReview, document
from arena.replay.read import read


def main() -> None:
    """Work out what every seat made of its cards, and then, seat by seat, which choices cost most."""
    os.nice(19)
    review = GameReview(read(sys.stdin.buffer.read()))
    seats = review.seats()
    _write(document(review, seats))
    for seat in range(len(seats)):
        seats[seat] = replace(seats[seat], costly=review.costly(seat))
        _write(document(review, seats))


def _write(found: object) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
