"""Cost of viewers of the live pages: to the server per decision, and to the pages' process.

    python -m bench.viewers [--viewers 500] [--seconds 10] [--repetitions 3] [--json]

8 bots play 16 matches each on a server. `arena web` shows its pages, and viewers read their streams of live matches,
status and ladder. Runs with and without viewers alternate on the same server. There are two bars: for the server's
processor time per decision with viewers, divided by that without, and for the share of a core that the pages use with
viewers.
"""

from __future__ import annotations

import json
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import click
from rich.console import Console

from bench._server import cpu, server
from bench.crawl import play

PLAYING: Final = 8
CAPACITY: Final = 16
BOARDS: Final = ("matches", "status", "ladder/sixth_sense")
COST: Final = 1.1
"""Maximum cost of a decision with viewers, as a multiple of its cost without."""
SHARE: Final = 0.1
"""Maximum share of a core that the pages may use."""


class Run(NamedTuple):
    """One measurement, with or without viewers."""

    server_cpu_us: float
    """Processor time of the server per decision, in microseconds."""
    pages_share: float
    """Share of a core that the pages used."""
    events: int
    """Number of events that viewers received."""


class Viewers:
    """Streams of server-sent events, all read by one thread."""

    def __init__(self, address: str, count: int) -> None:
        place = urlsplit(address)
        self._place = place.hostname or "", place.port or 80
        self._count = count
        self._stop, self._open = Event(), Event()
        self.events = 0
        self.ended = 0

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Read the streams during the `with` block. The block begins when every stream has received its first event."""
        self._stop.clear()
        self._open.clear()
        self.events = 0
        reader = Thread(target=self._read)
        reader.start()
        try:
            if not self._open.wait(60):
                raise click.ClickException(f"not all of {self._count} streams were opened within 60 s")
            self.events = 0
            yield
        finally:
            self._stop.set()
            reader.join()

    def _read(self) -> None:
        waiting = set[int]()
        with selectors.DefaultSelector() as selector:
            for number in range(self._count):
                stream = socket.create_connection(self._place)
                path = f"/live/events/{BOARDS[number % len(BOARDS)]}"
                stream.sendall(f"GET {path} HTTP/1.1\r\nHost: arena\r\nAccept: text/event-stream\r\n\r\n".encode())
                selector.register(stream, selectors.EVENT_READ)
                waiting.add(stream.fileno())
            while not self._stop.is_set():
                for key, _ in selector.select(0.2):
                    received = key.fileobj.recv(1 << 16)  # type: ignore[union-attr]
                    told = received.count(b"\ndata:") + received.startswith(b"data:")
                    self.events += told
                    if told and waiting:
                        waiting.discard(key.fd)
                        if not waiting:
                            self._open.set()
                    if not received:
                        self.ended += 1
                        selector.unregister(key.fileobj)
                        key.fileobj.close()  # type: ignore[union-attr]
            for each in [*selector.get_map().values()]:
                each.fileobj.close()  # type: ignore[union-attr]


@contextmanager
def pages(server_address: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `arena web` for a server; yield the process and its address."""
    command = [sys.executable, "-m", "arena.cli", "web", "--server", server_address, "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("Pages at ").partition(";")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def measure(count: int, seconds: float, warm_up: float, repetitions: int) -> dict[str, Any]:
    """Measure without and with viewers, `repetitions` times each."""
    alone, beside = list[Run](), list[Run]()
    with (
        tempfile.TemporaryDirectory() as data,
        server(Path(data) / "data") as (process, address),
        pages(address) as (showing, pages_at),
    ):
        viewers = Viewers(pages_at, count)

        def run(prefix: str) -> Run:
            before, began = cpu(showing.pid), monotonic()
            found = play(address, process.pid, seconds, warm_up, prefix, PLAYING, CAPACITY)
            share = (cpu(showing.pid) - before) / (monotonic() - began)
            return Run(found.server_cpu_us, share, viewers.events)

        for number in range(repetitions):
            alone.append(run(f"alone-{number}"))
            with viewers.looking():
                beside.append(run(f"beside-{number}"))
    return {
        "viewers": count,
        "alone": [each._asdict() for each in alone],
        "beside": [each._asdict() for each in beside],
        "cost_ratio": median(each.server_cpu_us for each in beside) / median(each.server_cpu_us for each in alone),
        "pages_share": median(each.pages_share for each in beside),
        "ended": viewers.ended,
    }


@click.command(help="Measure the cost of viewers of the live pages.")
@click.option("--viewers", "count", default=500, show_default=True, type=click.IntRange(1))
@click.option("--seconds", default=10.0, show_default=True, type=click.FloatRange(0.5), help="Seconds per measurement.")
@click.option("--warm-up", default=5.0, show_default=True, type=click.FloatRange(0))
@click.option("--repetitions", default=3, show_default=True, type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
def main(count: int, seconds: float, warm_up: float, repetitions: int, as_json: bool) -> None:
    """Measure. Exit with 1 if a bar is missed with at least 500 viewers."""
    found = measure(count, seconds, warm_up, repetitions)
    cost, share = found["cost_ratio"], found["pages_share"]
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        console = Console()
        _print(console, "server, a decision", [run["server_cpu_us"] for run in found["alone"]], "µs without viewers")
        _print(console, "server, a decision", [run["server_cpu_us"] for run in found["beside"]], "µs with them")
        console.print(f"{cost:.2f} times as much, bar ≤ {COST}: {'reached' if cost <= COST else 'MISSED'}")
        _print(console, "pages", [100 * run["pages_share"] for run in found["alone"]], "% of a core without viewers")
        _print(console, "pages", [100 * run["pages_share"] for run in found["beside"]], "% with them")
        reached = "reached" if share <= SHARE else "MISSED"
        console.print(f"{100 * share:.1f} % of a core, bar ≤ {100 * SHARE:.0f} %: {reached}")
        console.print(f"{median(run['events'] for run in found['beside']):.0f} events, {found['ended']} streams ended")
    sys.exit(int(count >= 500 and (cost > COST or share > SHARE)))


def _print(console: Console, what: str, figures: Sequence[float], unit: str) -> None:
    console.print(f"{what}: {median(figures):.1f} ({min(figures):.1f} – {max(figures):.1f}) {unit}")


if __name__ == "__main__":
    main()
