"""The process that fits ladders: `python -m arena.server.fitting DIRECTORY`, one for a server and its child.

It reads the database and never writes: a line of JSON in asks for a ladder, a line out is that, or why there is none.
It ends with its input, so with its server, however that ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.ladder.errors import LadderError
from arena.store.errors import StoreError
from arena.store.fits import Fits
from arena.store.store import open_readonly

YIELDING: Final = 10
"""How much it gives way to matches when the machine is busy (`nice`)."""


def answers(directory: Path, requests: Iterator[str]) -> Iterator[str]:
    """The line for each line that asks; the order of both is the same."""
    fits = Fits()
    for request in requests:
        asked = json.loads(request)
        try:
            with open_readonly(directory) as connection:
                ladder = fits.ladder(connection, asked["game"], asked["seats"])
        except (LadderError, StoreError) as error:
            yield json.dumps({"error": str(error)})
        else:
            # A JSON number made of a float is that float again, to the last bit.
            figures = {"lines": ladder.lines, "figures": ladder.figures, "fortunes": ladder.fortunes}
            made = {"through": ladder.through, "digest": ladder.digest, "replayed": ladder.replayed}
            yield json.dumps(figures | made)


def main() -> None:
    """Answers until there is nothing more to read."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this one
    os.nice(YIELDING)
    try:
        for answer in answers(Path(sys.argv[1]), iter(sys.stdin.readline, "")):
            print(answer, flush=True)  # noqa: T201 - that is how it answers
    except BrokenPipeError:
        sys.stdout = None  # the server is gone, and so is what could still be flushed to it


if __name__ == "__main__":
    main()
