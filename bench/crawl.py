"""Measure how much a crawl of the pages slows down decisions.

    python -m bench.crawl [--matches 100000] [--pages 20] [--seconds 10] [--repetitions 3] [--data DIR] [--json]

A server plays on a data directory that already contains `--matches` matches, while `arena web` reads the same
directory. A crawler requests `--pages` pages per second from it: ladders, lists of matches at any depth, matches and
bots, as HTML and as JSON. Runs with and without the crawl alternate on the same server, so that other load on the
machine affects both. A round trip lasts from an answer to the next decision of that match, as in `bench.play`. The bar
applies to the p99 with the crawl divided by the p99 without. The generated matches have no replays, so the cost of
reading one is not measured.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from os import getloadavg
from pathlib import Path
from random import Random
from statistics import median, quantiles
from threading import Event, Thread
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import click
import trio
from rich.console import Console

from bench import _server
from bench._server import server
from bench.listings import BOTS, GAMES, make

MATCHES: Final = 100_000
BAR: Final = 1.5
PLAYING: Final = 8
"""Number of bots that play."""
CAPACITY: Final = 4
AT_ONCE: Final = 8
"""Maximum number of concurrent requests of the crawler."""


class Run(NamedTuple):
    """One measurement, with or without the crawl."""

    median_us: float
    p99_us: float
    a_second: float
    """Decisions per second."""
    server_cpu_us: float
    """Processor time of the server per decision, in microseconds."""
    load: float
    """The machine's load average over the last minute."""


class Pages:
    """A crawler that requests pages at a steady rate until it is stopped."""

    def __init__(self, address: str, matches: int, rate: float) -> None:
        place = urlsplit(address)
        self._place = place.hostname or "", place.port or 80
        self._matches, self._rate = matches, rate
        self._chance = Random(1)
        self._stop = Event()
        self.seconds: list[float] = []
        self.failed: list[str] = []

    @contextmanager
    def crawling(self) -> Iterator[None]:
        """Crawl during the `with` block."""
        self._stop.clear()
        crawler = Thread(target=self._run)
        crawler.start()
        try:
            yield
        finally:
            self._stop.set()
            crawler.join()

    def _run(self) -> None:
        due = monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not self._stop.wait(max(0.0, due - monotonic())):
                pool.submit(self._ask, self._path(), due)
                due += 1 / self._rate

    def _path(self) -> str:
        number, game = self._chance.randint(1, self._matches), self._chance.choice(GAMES)
        bot = f"bot-{self._chance.randrange(BOTS)}"
        pages = ["/", f"/ladder/{game}", f"/matches?before={number}", f"/matches?bot={bot}&before={number}"]
        pages += [f"/matches/{number}", f"/bots/{bot}", f"/api/v1/matches?before={number}", f"/api/v1/ladder/{game}"]
        pages += ["/tv", f"/bots/{bot}/feed.atom", f"/ladder/{game}/feed.atom", f"/matches/{number}/picture.png"]
        return self._chance.choice(pages)

    def _ask(self, path: str, due: float) -> None:
        """Request a page. Measure its duration from the time when the request was due."""
        connection = HTTPConnection(*self._place, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.failed.append(f"{path}: {answer.status}")
        except OSError as error:
            self.failed.append(f"{path}: {error}")
        finally:
            connection.close()
        self.seconds.append(monotonic() - due)


@contextmanager
def pages(data: Path) -> Iterator[str]:
    """Run `arena web` over a data directory. Yield its address."""
    command = [sys.executable, "-m", "arena.cli", "web", "--data", str(data), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("Pages at ").partition(";")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def play(
    address: str,
    process: int,
    seconds: float,
    warm_up: float,
    prefix: str,
    bots: int = PLAYING,
    capacity: int = CAPACITY,
) -> Run:
    """Let bots play and measure their round trips."""
    found = _server.play(address, process, bots, capacity, seconds, warm_up, prefix=prefix)
    return Run(found.median_us, found.p99_us, found.per_second, found.server_cpu_us, getloadavg()[0])


def measure(data: Path, matches: int, rate: float, seconds: float, warm_up: float, repetitions: int) -> dict[str, Any]:
    """Measure without and with the crawl, alternately, `repetitions` times each."""
    alone, beside = list[Run](), list[Run]()
    with server(data) as (process, address), pages(data) as pages_at:
        crawl = Pages(pages_at, matches, rate)
        for number in range(repetitions):
            alone.append(play(address, process.pid, seconds, warm_up, f"alone-{number}"))
            with crawl.crawling():
                beside.append(play(address, process.pid, seconds, warm_up, f"beside-{number}"))
    return {
        "matches": matches,
        "pages_a_second": rate,
        "alone": [run._asdict() for run in alone],
        "beside": [run._asdict() for run in beside],
        "p99_ratio": median(run.p99_us for run in beside) / median(run.p99_us for run in alone),
        "pages": len(crawl.seconds),
        "pages_p95_ms": 1000 * quantiles(crawl.seconds, n=20)[18],
        "failed": crawl.failed,
    }


@click.command(help="Measure how much a crawl of the pages slows down decisions.")
@click.option("--matches", default=MATCHES, show_default=True, type=click.IntRange(1_000))
@click.option(
    "--pages", "rate", default=20.0, show_default=True, type=click.FloatRange(0.1), help="Page requests per second."
)
@click.option("--seconds", default=10.0, show_default=True, type=click.FloatRange(0.5), help="Seconds per measurement.")
@click.option("--warm-up", default=6.0, show_default=True, type=click.FloatRange(0))
@click.option("--repetitions", default=3, show_default=True, type=click.IntRange(1))
@click.option("--data", type=click.Path(path_type=Path), help="Data directory to create, or to reuse if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
def main(
    matches: int, rate: float, seconds: float, warm_up: float, repetitions: int, data: Path | None, as_json: bool
) -> None:
    """Measure. Exit with 1 if the bar is missed with at least `MATCHES` matches."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = data or Path(temporary) / "data"
        if not (directory / "arena.db").exists():
            trio.run(make, directory, matches)
        found = measure(directory, matches, rate, seconds, warm_up, repetitions)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        _print(found)
    sys.exit(int(matches >= MATCHES and found["p99_ratio"] > BAR))


def _print(found: dict[str, Any]) -> None:
    console = Console()
    for name in ("alone", "beside"):
        p99s, loads = [run["p99_us"] for run in found[name]], [run["load"] for run in found[name]]
        middle, most = median(run["median_us"] for run in found[name]), median(p99s)
        console.print(
            f"{name}: median {middle:,.0f} µs, p99 {most:,.0f} µs ({min(p99s):,.0f} – {max(p99s):,.0f}), "
            f"load {median(loads):.1f}"
        )
    reached = "reached" if found["p99_ratio"] <= BAR else "MISSED"
    console.print(f"p99 {found['p99_ratio']:.2f} times as long, bar ≤ {BAR}: {reached}")
    console.print(f"{found['pages']} pages, p95 {found['pages_p95_ms']:.0f} ms, {len(found['failed'])} failed")


if __name__ == "__main__":
    main()
