"""Time of the listing commands on a data directory with a million matches.

    python -m bench.listings [--matches 1000000] [--command "ladder" …] [--data DIR] [--json]

First the program generates a data directory without replays, in a minute or two. With `--data` it preserves the
directory, and reuses it if it exists. A server runs on it and has fitted both ladders before anything is timed. Each
command runs as a user would run it: in a new process that queries the server. Its start is included. The table shows
the median and the largest time of several runs; the bar applies to the median. `arena bots show` analyses a bot's
latest matches and has its own bar.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic, sleep, time
from typing import Any, Final, NamedTuple

import click
import trio
from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, insert

from arena.store import schema
from arena.store.bots import bots
from arena.store.store import open_store

MATCHES: Final = 1_000_000
BOTS: Final = 300
SEATS: Final = 4
GAMES: Final = ("nullern", "sixth_sense")
RARE: Final = 50
"""One match in this many belongs to the second game."""
ONCE: Final = 0
"""Number of a bot that plays the second game only in its oldest matches."""
CHUNK: Final = 20_000
LISTING: Final = 1.0
ANALYSIS: Final = 10.0
READY: Final = 600.0
"""Maximum time until the server has made its first fits, in seconds."""


class Timing(NamedTuple):
    """The durations of a command."""

    median: float
    largest: float
    """Wall-clock time of the slowest run, in seconds."""
    processor: float
    """Median processor time of the command, in seconds."""
    bar: float

    @property
    def reached(self) -> bool:
        """True if the median meets the bar."""
        return self.median <= self.bar


def commands() -> dict[str, float]:
    """Return the arguments of each `arena` command, with the command's bar in seconds."""
    busy, once = "bot-7", f"bot-{ONCE}"
    listings = [
        "ladder",
        "ladder --game nullern",
        f"ladder --history {busy}",
        "matches",
        f"matches --bot {busy} --limit 1000",
        f"matches --bot {once} --game sixth_sense",
        f"matches --bot {busy} --lost --before 500000",
        "matches --game sixth_sense --before 1000",
        "replay list",
        f"replay list --bot {once} --game sixth_sense",
        "bots list",
        "games",
    ]
    return dict.fromkeys(listings, LISTING) | {f"bots show {busy}": ANALYSIS}


async def make(directory: Path, matches: int) -> None:
    """Create a data directory with `matches` finished matches, in the state in which a server leaves it."""
    async with open_store(directory, _now()) as store:
        await store.write(lambda connection: _fill(connection, matches))


def _fill(connection: Connection, matches: int) -> None:
    chance = Random(1)
    own = [bots.register(connection, f"bot-{number}", f"owner-{number}", 1).bot.id for number in range(BOTS)]
    connection.execute(
        insert(schema.versions), [{"id": bot, "bot_id": bot, "version": "1", "created": 1} for bot in own]
    )
    rating = {"rating": 1500.0, "deviation": 30.0, "matches": SEATS * matches // BOTS, "wins": 0, "rank_sum": 0.0}
    rating |= {"last_change": 0.0}
    connection.execute(
        insert(schema.ratings), [rating | {"node": bot, "ladder": game} for bot in own for game in GAMES]
    )
    numbers = dict.fromkeys(GAMES, 0)
    left = iter(range(1, matches + 1))
    started = _now() - matches * 1000
    changes = dict.fromkeys(("rating_before", "deviation_before", "rating_after", "deviation_after"), 1500.0)
    match_row = {"options": "{}", "seats": SEATS, "state": "finished", "reason": ""}
    event_row = {"kind": "result", "reason": "", "counts": "1" * SEATS}
    replay = {"content": b"", "sha256": sha256(b"").digest(), "segment": None}  # as for a pruned replay
    while chunk := list(islice(left, CHUNK)):
        rows: dict[str, list[dict[str, Any]]] = {"matches": [], "seats": [], "events": [], "replays": []}
        for number in chunk:
            game = GAMES[number % RARE == 0 or number < RARE]
            who = chance.sample(own[ONCE + 1 :], SEATS)
            if number < RARE or number % RARE == 1:
                who[0] = own[ONCE]
            order = sorted(range(SEATS), key=lambda seat, who=who: who[seat] * 0.002 + chance.gauss(0, 1))  # type: ignore[misc]
            places = [order.index(seat) + 1 for seat in range(SEATS)]
            numbers[game] += 1
            at = started + number * 1000
            rows["matches"].append(
                match_row | {"id": number, "game": game, "ladder": game, "started": at - 1000, "ended": at}
            )
            rows["seats"] += [
                changes
                | {"match_id": number, "seat": seat, "bot_id": bot, "node": bot, "forced": 0}
                | {"score": 100 - place, "place": place}
                for seat, (bot, place) in enumerate(zip(who, places, strict=True))
            ]
            nodes, ranks = ",".join(map(str, who)), "".join(map(str, places))
            about = {"ladder": game, "number": numbers[game], "match_id": number, "at": at}
            rows["events"].append(event_row | about | {"nodes": nodes, "places": ranks})
            rows["replays"].append(replay | {"match_id": number})
        for table, name in (
            (schema.matches, "matches"),
            (schema.match_seats, "seats"),
            (schema.rated_results, "events"),
            (schema.replays, "replays"),
        ):
            connection.execute(insert(table), rows[name])


@contextmanager
def server(data: Path) -> Iterator[str]:
    """Run `arena serve` and wait until it has fitted the stored matches. Yield its address."""
    command = [sys.executable, "-m", "arena.cli", "serve", "--quiet", "--data", str(data), "--address", "127.0.0.1:0"]
    process = subprocess.Popen([*command, "--drain", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("Arena listens on ").partition(",")[0]
        wait_for_fits(address)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def wait_for_fits(address: str) -> None:
    """Wait until a server has fitted its ladders.

    Raises:
        ClickException: it takes longer than `READY`.
    """
    end = monotonic() + READY
    while monotonic() < end:
        ran = subprocess.run(_arena("ladder --json", address), capture_output=True, text=True, check=True)
        ladders = json.loads(ran.stdout)["ladders"]
        if all(ladder["through"] for ladder in ladders):
            return
        sleep(0.5)
    raise click.ClickException(f"the server has not fitted its ladders within {READY:.0f} s")


def timed(command: str, address: str, runs: int, bar: float) -> Timing:
    """Run a command once as a warm-up, and then `runs` times."""
    seconds, processor = [], []
    for number in range(runs + 1):
        used, began = _children(), monotonic()
        subprocess.run(_arena(command, address), stdout=subprocess.DEVNULL, check=True)
        if number:
            seconds.append(monotonic() - began)
            processor.append(_children() - used)
    return Timing(median(seconds), max(seconds), median(processor), bar)


def _arena(command: str, address: str) -> list[str]:
    asked = [] if command == "games" else ["--server", address]
    return [sys.executable, "-m", "arena.cli", *command.split(), *asked]


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _now() -> int:
    return int(time() * 1e6)


@click.command(help="Measure the time of the listing commands, with many matches.")
@click.option("--matches", default=MATCHES, show_default=True, type=click.IntRange(1_000))
@click.option("--runs", default=5, show_default=True, type=click.IntRange(1))
@click.option(
    "--command", "chosen", type=click.Choice([*commands()]), multiple=True, help="What to measure; repeatable."
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Data directory to create and keep, or to reuse if it exists."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(matches: int, runs: int, chosen: tuple[str, ...], data: Path | None, as_json: bool) -> None:
    """Measure. With a million matches, exit with 1 if a command exceeds its limit."""
    progress = Console(stderr=True)
    with tempfile.TemporaryDirectory() as temporary:
        directory = data or Path(temporary) / "data"
        if not (directory / "arena.db").exists():
            progress.print(f"Making {matches:,} matches in {directory} …")
            trio.run(make, directory, matches)
        progress.print("Waiting for the server's first fits …")
        with server(directory) as address:
            found = {}
            for command in chosen or commands():
                found[command] = timed(command, address, runs, commands()[command])
                progress.print(f"arena {command}: {found[command].median:.2f} s")
    if as_json:
        rows = {name: timing._asdict() | {"reached": timing.reached} for name, timing in found.items()}
        print(json.dumps({"matches": matches, "commands": rows}, indent=2))
    else:
        _print(found, matches)
    sys.exit(int(matches >= MATCHES and not all(timing.reached for timing in found.values())))


def _print(found: dict[str, Timing], matches: int) -> None:
    table = Table("command", title=f"Commands that list, on {matches:,} matches")
    for column in ("median", "largest", "processor time", "bar", ""):
        table.add_column(column, justify="right")
    for command, timing in found.items():
        seconds = [f"{each:.2f} s" for each in timing[:3]]
        table.add_row(f"arena {command}", *seconds, f"≤ {timing.bar:.0f} s", "reached" if timing.reached else "MISSED")
    Console(width=None if os.isatty(1) else 120).print(table)


if __name__ == "__main__":
    main()
