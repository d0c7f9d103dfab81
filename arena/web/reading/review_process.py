"""Analyses a match in a process of its own: reads its replay, writes what is found so far, a JSON line each time.

It runs at the lowest priority, so that neither a server nor the pages wait for it. It ends when its standard input is
closed, which the system does when its parent dies, however that ends.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from functools import partial

from arena.analysis.game_review import GameReview, document
from arena.processes.launch import give_way
from arena.processes.parent import when_closed
from arena.replay.read import read
from arena.web.reading.record_process import LENGTH


def main() -> None:
    """Work out what every seat made of its cards, and then, seat by seat, which choices cost most."""
    give_way(19)
    replay = sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(LENGTH), "big"))
    when_closed(sys.stdin.fileno(), partial(os._exit, 1))
    review = GameReview(read(replay))
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
