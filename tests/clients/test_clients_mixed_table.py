"""One table of Nullern with a bot in every language. The test kills all bots during a match, and none may be blamed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Protocol

import pytest
from playwright.sync_api import Browser, Page

from arena.match.effects import Force, Refuse, Substitute, Suspend
from arena.match.inputs import Left, Restored, Returned
from arena.match.match import Match
from arena.replay.replay import Replay
from arena.store.base.rows import MatchState
from arena.store.matches import matches
from arena.store.opening import open_readonly
from engine.deal import SeededDecks, match_key
from tests.crash.crash_judge import journal_of
from tests.crash.crash_rig import free_port
from tests.end_to_end.e2e_rig import PATIENCE, ROOT, Server, audit, is_connected, server, until
from tests.interop.interop_rig import built, tool
from tests.web.browser import needs_browser
from tests.web.browser import started as browsing

BUILD: Final = ROOT / "build"
TYPESCRIPT: Final = ROOT / "clients" / "typescript" / "dist" / "samples"
JAVA: Final = BUILD / "client-java"
SDKS: Final = ("client-typescript", "client-go", "client-cpp", "client-rust", "client-java")
PROGRAMS: Final = {
    "python": (sys.executable, "-m", "arena_client.samples.counter_bot"),
    "typescript": ("node", str(TYPESCRIPT / "rule_bot.js")),
    "go": (str(BUILD / "client-go" / "rules"),),
    "cpp": (str(BUILD / "client-cpp" / "rule_bot"),),
    "rust": (str(BUILD / "client-rust" / "rules"),),
    "java": ("java", "-cp", f"{JAVA / 'arena-client.jar'}:{JAVA / 'jars' / '*'}", "arena.samples.Rules"),
}
"""Every seat except the page's: its name, its program, and the command line that all samples share."""
PAGE: Final = "page"
UNHURRIED: Final = (
    *("--soft-limit", "60", "--bank", "600", "--grace", "600", "--newcomer-grace", "600", "--restart-hold", "600"),
    *("--incidents", "20", "--ready-limit", "600", "--registrations-per-address", "60"),
)
"""Limits that no busy machine reaches, so any blame in this test is wrong."""
SOME_LINES: Final = 40
"""Number of journal rows after which a match counts as half-way through. A whole match has some hundreds."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.long,
    needs_browser,
    *map(tool, ("npm", "go", "cmake", "grpc_cpp_plugin", "cargo", "mvn")),
]


class Seat(Protocol):
    """A bot that the test can kill and restart."""

    def start(self) -> None: ...
    def kill(self) -> None: ...


class Program:
    """A bot in its own process."""

    def __init__(self, name: str, folder: Path, address: str) -> None:
        self.log = folder / f"{name}.log"
        told = ("--name", name, "--server", address, "--game", "nullern", "--capacity", "1")
        self._command = [*PROGRAMS[name], *told, "--token-file", str(folder / f"{name}.token")]
        self._folder = folder

    def start(self) -> None:
        with self.log.open("a") as log:
            self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log)

    def kill(self) -> None:
        self._process.kill()
        assert self._process.wait() == -signal.SIGKILL, self.log.read_text()


class InPage:
    """A bot in a web page, which stores its token in the browser."""

    def __init__(self, browser: Browser, site: str) -> None:
        self._context = browser.new_context()
        self._site = site
        self._page: Page | None = None

    def start(self) -> None:
        self._page = self._context.new_page()
        self._page.goto(f"{self._site}/write-a-bot/browser")
        self._page.get_by_label("Name").fill(PAGE)
        self._page.get_by_label("Game").select_option("nullern")
        self._page.get_by_role("button", name="Play").click()

    def kill(self) -> None:
        if self._page:
            self._page.close()


class Table:
    """A server that the test can stop and start, and its seven bots."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self.data = folder / "data"
        self.address, self._web = f"127.0.0.1:{free_port()}", free_port()
        self.seats: dict[str, Seat] = {name: Program(name, folder, self.address) for name in PROGRAMS}
        self.seats[PAGE] = InPage(browser, f"http://127.0.0.1:{self._web}")

    @contextmanager
    def served(self) -> Iterator[Server]:
        """Start the server with its pages."""
        until(self._web_is_free, "the pages of the server before to end")
        web = ("--game", "nullern", "--web", f"127.0.0.1:{self._web}", "--drain", str(PATIENCE))
        with server(self.data, *UNHURRIED, *web, address=self.address, seats="7") as running:
            assert running.process.stdout is not None
            assert "Pages at" in running.process.stdout.readline(), running
            yield running

    def _web_is_free(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self._web)) != 0

    def in_the_middle(self) -> int | None:
        """Return a running match that is about half-way through."""
        with open_readonly(self.data) as connection:
            stored = matches.list_matches(connection, limit=100_000)
        playing = {match.match_id for match in stored if match.state is MatchState.PLAYING}
        lines = journal_of(self.data)
        return next((match for match in playing if len(lines.get(match, ())) >= SOME_LINES), None)

    def strike(self, name: str) -> None:
        """Kill a bot during a match. The match then waits for the bot."""
        while True:
            until(self.in_the_middle, "a match to be in its middle")
            self.seats[name].kill()
            until(lambda: not is_connected(self.address, name), f"{name} to be gone")
            if self.in_the_middle():
                return
            self.come_back(name)

    def come_back(self, name: str) -> None:
        self.seats[name].start()
        until(lambda: is_connected(self.address, name), f"{name} to be back")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    for sdk in SDKS:
        built("make", sdk, where=ROOT)
    with browsing() as browser:
        yield browser


def judged(replay: Replay) -> Counter[str]:
    """Return the bots that left and came back. Fail if any bot was blamed."""
    header, gone = replay.header, Counter[str]()
    match = Match(
        header.game, len(header.bots), header.options, SeededDecks(match_key(header.seed, header.nonces)), header.policy
    )
    for event in replay.inputs:
        for effect in match.receive(event):
            assert not isinstance(effect, Force | Refuse | Substitute | Suspend), (
                f"{header.bots}: {effect} after {event}"
            )
        if isinstance(event, Left | Returned):
            gone[f"{header.bots[event.seat].name} {type(event).__name__}"] += 1
        gone["restored"] += isinstance(event, Restored)
    assert not any(replay.result.forced)
    return gone


def test_seven_seats_in_all_languages_live_through_every_death(tmp_path: Path, browser: Browser) -> None:
    table = Table(tmp_path, browser)
    with ExitStack() as bots:
        with table.served() as running:
            for name, seat in table.seats.items():
                bots.callback(seat.kill)
                table.come_back(name)
            *programs, last = table.seats
            assert last == PAGE
            for name in programs:
                table.strike(name)
                table.come_back(name)
            table.strike(last)
            running.kill()  # while the page is closed
        with table.served() as running:
            for name in programs:
                until(lambda name=name: is_connected(table.address, name), f"{name} to come back")  # type: ignore[misc]
            table.come_back(last)
            until(table.in_the_middle, "a match to be in its middle")
            running.kill()
        table.seats[last].kill()  # the bot in the page reconnects only if the user presses the button
        with table.served() as running:
            table.come_back(last)
            running.signal(signal.SIGTERM)  # let running matches end
            assert running.ended() == 0, running
    found = audit(table.data)  # verify each replay
    assert found.playing == found.interrupted == []
    seen = sum((judged(replay) for replay in found.replays.values()), Counter[str]())
    assert seen["restored"] >= 2
    for name in table.seats:
        assert seen[f"{name} Returned"] >= 1, seen
    assert {seat.bot for match in found.finished for seat in match.seats} == set(table.seats)
