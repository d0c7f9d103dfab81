"""Time of every page of `arena web`, on a data directory with a hundred thousand or a million matches.

    python -m bench.pages [--matches 1000000] [--data DIR] [--runs 40] [--json]

The data directory is created as in `bench.listings`. The newest matches get replays of random play, and both ladders
are fitted and published. Then the pages are requested one at a time over HTTP: `--runs` addresses of each kind, the
first request included. The bar applies to the 95th percentile of wall-clock time. Other work on the machine makes that
longer, so the processor time per request and the load are printed beside it. The size of the first page includes all
files it needs.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from statistics import mean, median, quantiles
from time import perf_counter, time_ns
from typing import Final, NamedTuple

import click
import trio
from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, delete

from arena.match.effects import Ask
from arena.match.inputs import Acted, Begun, Instant
from arena.match.match import Match
from arena.match.policy import Policy
from arena.replay.hash_chain import pack, unpack, without_chain
from arena.replay.header import Entry, Header, SeatedBot
from arena.replay.record import encode
from arena.store import schema
from arena.store.ladder import publishing
from arena.store.ladder.fits import Fits
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from arena.store.replays import replays
from bench import listings
from engine.deal import SeededDecks, commitment, match_key
from engine.registry import GAMES

SMALL: Final = 100_000
BARS: Final = {SMALL: 0.050, listings.MATCHES: 0.100}
"""Bars for the 95th percentile in seconds, by the number of matches."""
FIRST_PAGE: Final = 100_000
"""Maximum size of the first page, in bytes."""
REPLAYS: Final = 50
"""Number of newest matches that get a replay."""
WAIT: Final = 60.0


class PageTiming(NamedTuple):
    """The durations of one kind of page."""

    median: float
    p95: float
    largest: float
    """Wall-clock time of the slowest request, in seconds."""
    processor: float
    """Mean processor time per page request, in seconds."""
    size: int
    """Median number of bytes sent."""


def addresses(newest: int, runs: int, own: str) -> dict[str, list[str]]:
    """Return the addresses of each kind of page. `own` is the address of the first page, without the slash."""
    chance = Random(1)
    bots = chance.sample(range(1, listings.BOTS), min(runs, listings.BOTS - 1))
    shown = [newest - chance.randrange(REPLAYS) for _ in range(runs)]
    steps = [chance.randrange(1, 100) for _ in range(runs)]
    return {
        "first": ["/"] * runs,
        "ladder": ["/ladder/nullern"] * runs,
        "ladder of the past": ["/ladder/nullern?at=2999-01-01"] * runs,
        "bots": ["/bots"] * runs,
        "bot": [f"/bots/bot-{bot}" for bot in bots],
        "matches": [f"/matches?before={chance.randrange(100, newest)}" for _ in range(runs)],
        "matches of a bot": [f"/matches?bot=bot-{bot}&before={chance.randrange(100, newest)}" for bot in bots],
        "matches against": [f"/matches?bot=bot-{bot}&opponent=bot-{bot % 90 + 1}" for bot in bots],
        "matches found nowhere": [f"/matches?bot=bot-{bot}&faults=1&seats=3" for bot in bots],
        "matches of a day": ["/matches?since=2026-01-01"] * runs,
        "match": [f"/matches/{number}" for number in shown],
        "match without replay": [f"/matches/{chance.randrange(1, newest - REPLAYS)}" for _ in range(runs)],
        "step": [f"/matches/{number}/steps/{step}" for number, step in zip(shown, steps, strict=True)],
        "step of a seat": [f"/matches/{number}/steps/{step}?seat=1" for number, step in zip(shown, steps, strict=True)],
        "step as JSON": [f"/api/v1/matches/{number}/steps/{step}" for number, step in zip(shown, steps, strict=True)],
        "round": [f"/matches/{number}/rounds/1" for number in shown],
        "tricks": [f"/matches/{number}/tricks" for number in shown],
        "why": [f"/matches/{number}/why" for number in shown],
        "frame": [f"/embed/matches/{number}" for number in shown],
        "oembed": [f"/oembed?url={own}/matches/{number}" for number in shown],
        "picture": [f"/matches/{number}/picture.png" for number in shown],
        "TV": ["/tv"] * runs,
        "feed of a bot": [f"/bots/bot-{bot}/feed.atom" for bot in bots],
        "feed of a ladder": ["/ladder/nullern/feed.atom"] * runs,
        "feed of decisions": ["/decisions.atom"] * runs,
        "replay": [f"/matches/{number}/replay" for number in shown],
        "rules": ["/rules/nullern?language=nl"] * runs,
        "write a bot": ["/write-a-bot"] * runs,
        "nothing": [f"/matches/{newest + 10}"] * runs,
    }


def prepare(directory: Path) -> int:
    """Add replays to the newest matches and publish missing ladders. Return the number of the newest match."""
    with open_to_amend(directory) as connection:
        newest = matches.newest(connection)
        for number in range(newest - REPLAYS + 1, newest + 1):
            _give_replay(connection, number)
        for game in listings.GAMES:
            if not publishing.through(connection, game):
                publishing.publish(connection, game, Fits().ladder(connection, game), time_ns() // 1000)
    return newest


def _give_replay(connection: Connection, number: int) -> None:
    row = matches.get_match(connection, number)
    game, seed = GAMES[row.game], sha256(b"%d" % number).digest()
    header = Header(
        match_id=number,
        game=game,
        options={},
        bots=tuple(SeatedBot(seat.bot, house=False) for seat in row.seats),
        seed=seed,
        commitment=commitment(seed),
        nonces=(bytes(16),) * len(row.seats),
        stand_in="",
        policy=Policy(),
        started=0,
        server="0",
    )
    lines = (without_chain(line) or "" for line in _text(encode(header, _played(header, number), None)))
    content = pack(lines)
    connection.execute(delete(schema.replays).where(schema.replays.c.match_id == number))
    replays.keep(connection, number, row.game, content)


def _text(replay: bytes) -> list[str]:
    return unpack(replay).decode().splitlines()


def _played(header: Header, chance: int) -> list[Entry]:
    """Play a match at random."""
    decks = SeededDecks(match_key(header.seed, header.nonces))
    match = Match(header.game, len(header.bots), header.options, decks, header.policy)
    drawn, now = Random(chance), 0
    begun = Begun(Instant(0))
    entries: list[Entry] = [(begun, match.receive(begun))]
    waiting = [effect for effect in entries[0][1] if isinstance(effect, Ask)]
    while waiting:
        ask, now = waiting.pop(0), now + 1000
        acted = Acted(Instant(now), ask.seat, ask.decision, drawn.choice(sorted(ask.legal)))
        entries.append((acted, match.receive(acted)))
        waiting += [effect for effect in entries[-1][1] if isinstance(effect, Ask)]
    return entries


@contextmanager
def pages(data: Path) -> Iterator[tuple[str, int, int]]:
    """Run `arena web` on a directory. Yield host, port and process id."""
    command = [sys.executable, "-m", "arena.cli", "web", "--data", str(data), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            if not select.select([process.stdout], [], [], WAIT)[0]:
                raise click.ClickException(f"the pages are not there within {WAIT:.0f} s")
            found = re.search(r"http://([\d.]+):(\d+)", process.stdout.readline())
            if found is None:
                raise click.ClickException("the pages do not say where they are")
            yield found[1], int(found[2]), process.pid
        finally:
            process.send_signal(signal.SIGINT)


def timed(host: str, port: int, pid: int, paths: list[str], status: int) -> PageTiming:
    """Request pages one after the other and time them. Each response must have the given status."""
    connection, seconds, sizes = HTTPConnection(host, port, timeout=WAIT), list[float](), list[int]()
    used = _processor(pid)
    for path in paths:
        began = perf_counter()
        content = _asked(connection, path, status)
        seconds.append(perf_counter() - began)
        sizes.append(len(content))
    used = _processor(pid) - used
    connection.close()
    p95 = quantiles(seconds, n=20, method="inclusive")[-1]
    return PageTiming(median(seconds), p95, max(seconds), used / len(paths), int(median(sizes)))


def first_page(host: str, port: int) -> int:
    """Return the number of bytes of the first page with its style sheets, icon, scripts and the modules that these
    import.
    """
    connection = HTTPConnection(host, port, timeout=WAIT)
    page = gzip.decompress(content := _asked(connection, "/")).decode()
    waiting = re.findall(r'(?:src|rel="(?:stylesheet|icon)"[^>]*href)="([^"]+)"', page)
    sizes: dict[str, int] = {"/": len(content)}
    while waiting:
        if (path := waiting.pop()) in sizes:
            continue
        content = _asked(connection, path)
        sizes[path] = len(content)
        if path.endswith(".js"):
            imported = re.findall(r'from "\./([^"]+)"', gzip.decompress(content).decode())
            waiting += [f"{path.rpartition('/')[0]}/{name}" for name in imported]
    return sum(sizes.values())


def _asked(connection: HTTPConnection, path: str, status: int = 200) -> bytes:
    connection.request("GET", path, headers={"accept-encoding": "gzip"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != status:
        raise click.ClickException(f"{path} is answered with {answer.status}")
    return content


def _processor(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@click.command(help="Measure the time of every page, with many matches.")
@click.option("--matches", "count", default=listings.MATCHES, show_default=True, type=click.IntRange(1_000))
@click.option(
    "--runs", default=40, show_default=True, type=click.IntRange(2), help="Addresses to request of each kind of page."
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Data directory to create and keep, or to reuse if it exists."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(count: int, runs: int, data: Path | None, as_json: bool) -> None:
    """Measure. Exit with 1 if a bar is missed. The bars of time need at least a hundred thousand matches."""
    progress = Console(stderr=True)
    with tempfile.TemporaryDirectory() as temporary:
        directory = data or Path(temporary) / "data"
        if not (directory / "arena.db").exists():
            progress.print(f"Making {count:,} matches in {directory} …")
            trio.run(listings.make, directory, count)
        progress.print("Fitting its ladders …")
        newest = prepare(directory)
        found = {}
        with pages(directory) as (host, port, pid):
            size = first_page(host, port)
            for kind, paths in addresses(newest, runs, f"http://{host}:{port}").items():
                found[kind] = timed(host, port, pid, paths, 404 if kind == "nothing" else 200)
                progress.print(f"{kind}: {1000 * found[kind].p95:.0f} ms")
    bar = BARS[SMALL] if newest <= SMALL else BARS[listings.MATCHES]
    load = os.getloadavg()[0]
    if as_json:
        rows = {name: timing._asdict() | {"reached": timing.p95 <= bar} for name, timing in found.items()}
        print(json.dumps({"matches": newest, "load": load, "first_page": size, "pages": rows}, indent=2))
    else:
        _print(found, newest, bar, load, size)
    missed = newest >= SMALL and any(timing.p95 > bar for timing in found.values())
    sys.exit(int(size > FIRST_PAGE or missed))


def _print(found: dict[str, PageTiming], newest: int, bar: float, load: float, size: int) -> None:
    table = Table("page", title=f"Pages over {newest:,} matches, at a load of {load:.1f} on {os.cpu_count()} cores")
    for column in ("median", "95 %", "largest", "processor", "sent", "bar", ""):
        table.add_column(column, justify="right")
    for kind, timing in found.items():
        figures = [f"{1000 * each:.0f} ms" for each in timing[:4]]
        reached = "reached" if timing.p95 <= bar else "MISSED"
        table.add_row(kind, *figures, f"{timing.size / 1000:.1f} kB", f"≤ {1000 * bar:.0f} ms", reached)
    console = Console(width=None if os.isatty(1) else 120)
    console.print(table)
    total = mean(timing.processor for timing in found.values())
    console.print(f"{1000 * total:.1f} ms of processor time a page; the first page with all that it loads: ", end="")
    console.print(f"{size / 1000:.1f} kB (≤ {FIRST_PAGE / 1000:.0f})")


if __name__ == "__main__":
    main()
