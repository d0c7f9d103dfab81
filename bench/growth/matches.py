"""Cost of a server's start, a fit, each list and each page, over data directories with an increasing number of
matches.
"""

from __future__ import annotations

from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from bench import listings, pages
from bench._server import cpu, helpers, resident, serving

KEPT: Final = (100_000, 1_000_000)
LEAST: Final = 0.01
"""Resolution of the system's processor times in seconds; shorter times cannot be compared."""
FASTEST: Final = 1.1
"""Largest allowed exponent in cost ~ matches^exponent; above 1, so that noise does not count as growth."""


def measure(matches: int, runs: int) -> dict[str, float]:
    """Return by name each cost with a directory of `matches` matches: processor time in seconds, or size in bytes."""
    with TemporaryDirectory() as temporary:
        data = Path(temporary) / "data"
        trio.run(listings.make, data, matches)
        found = {"disk, bytes": float(sum(file.stat().st_size for file in data.rglob("*") if file.is_file()))}
        found |= _server(data, runs)
        newest = pages.prepare(data)
        with pages.pages(data) as (host, port, pid):
            for kind, paths in pages.addresses(newest, runs, f"http://{host}:{port}").items():
                status = 404 if kind == "nothing" else 200
                found[f"page: {kind}"] = pages.timed(host, port, pid, paths, status).processor
            found["memory of the pages, bytes"] = float(resident(pid))
    return found


def _server(data: Path, runs: int) -> dict[str, float]:
    with serving(data) as (process, address):
        found = {"start of the server": cpu(process.pid)}
        listings.wait_for_fits(address)
        found["first fits, in their process"] = max(map(cpu, helpers(process.pid)))
        for command, bar in listings.commands().items():
            before = cpu(process.pid)
            own = listings.timed(command, address, runs, bar).processor
            found[f"arena {command}"] = own + (cpu(process.pid) - before) / (runs + 1)
        found["memory of the server, bytes"] = float(resident(process.pid))
        found["memory of the fits, bytes"] = float(max(map(resident, helpers(process.pid))))
    return found


def exponent(few: float, many: float, times: float) -> float:
    """Return the exponent e with which a figure grows as input^e. 0 means no growth, 1 proportional growth.

    `few` and `many` are the figures for the smaller and the larger input, and `times` is the ratio of the inputs.
    """
    return log(max(many, LEAST) / max(few, LEAST)) / log(times)
