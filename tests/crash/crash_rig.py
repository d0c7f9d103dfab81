"""A server that dies repeatedly on the same data and port, and bots that survive its deaths."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from arena.store.base.directory import database_of
from arena.store.base.rows import MatchState
from arena.store.matches import matches
from arena.store.opening import open_readonly
from tests.crash.crash_judge import Move, Witness, course_of, journal_of, question, undisturbed
from tests.end_to_end.e2e_rig import audit
from tests.postgresql import Server, named_in

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0
"""Seconds of waiting after which a trial fails."""
TABLES = ("sixth_sense:2", "sixth_sense:3", "sixth_sense:6", "nullern:2", "nullern:3", "nullern:5")
SLOWNESS = 1_000_000
"""Microseconds beyond its soft limits that a bot may lose on a busy machine. A server's death costs much more."""
QUIET = {"HELD", "RELEASED", "BACK", "DRAINING", "WITHDRAWN"}
"""Notices that a bot may get if only the server misbehaves."""
store: Server | None = None
"""The PostgreSQL server that holds the databases of the trials; None for SQLite."""


def until(done: Callable[[], object], what: str) -> None:
    """Poll until a condition holds, for conditions without an event."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.01)


def seed() -> str:
    """Seed of all randomness in a trial except the server's own: CRASH_SEED or a new seed. A failing test prints it."""
    chosen = os.environ.get("CRASH_SEED") or os.urandom(4).hex()
    print(f"CRASH_SEED={chosen}")
    return chosen


class Asked(NamedTuple):
    """A question and its answer."""

    match_id: int
    decision: int
    question: str
    """Digest of the question."""
    action: int


@dataclass
class Notes:
    """The records that one bot writes."""

    path: Path
    asked: list[Asked] = field(default_factory=list)
    told: dict[int, tuple[int, list[int], list[int]]] = field(default_factory=dict)
    """By match, the bot's seat, the scores and the places."""
    noticed: Counter[str] = field(default_factory=Counter)
    _read: int = 0

    def read(self) -> Notes:
        """Read new records."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        content = content[: content.rfind(b"\n") + 1]
        self._read += len(content)
        for line in content.splitlines():
            kind, *words = json.loads(line)
            if kind == "asked":
                self.asked.append(Asked(*words))
            elif kind == "told":
                match, seat, scores, places, interrupted = words
                assert not interrupted, f"match {match} is void: {interrupted}"
                assert match not in self.told, f"match {match} was reported twice"
                self.told[match] = seat, scores, places
            else:
                self.noticed[words[1].removeprefix("NOTICE_KIND_")] += 1
        return self


class Birthplace:
    """The process that starts the servers."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crash.birthplace"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT
        )

    def __repr__(self) -> str:
        return f"<Birthplace pid {self._process.pid} status {self._process.poll()}>"

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def hear(self) -> str:
        """Return the next line. Fail after a time limit."""
        assert self._process.stdout is not None
        hangs = threading.Timer(PATIENCE, self._process.kill)
        hangs.start()
        line = self._process.stdout.readline().rstrip("\n")
        hangs.cancel()
        assert line, "nothing more is heard of the server"
        return line

    def close(self) -> None:
        with self._process:
            self._process.kill()


class Trial:
    """A data directory and its bots, over the lives of several servers."""

    def __init__(
        self, directory: Path, data: Path, chosen: str, bots: int, capacity: int, thinks: float, search: bool
    ) -> None:
        self.chance = Random(chosen)
        self.data = data if store is None else named_in(data, store)
        self.log = directory / "log"
        self.seeds = {f"bot{number}": f"{chosen} {number}" for number in range(bots)}
        self.notes = {name: Notes(directory / f"{name}.notes") for name in self.seeds}
        self.kills = 0
        self.lived_through = 0
        """Matches that more than one server played."""
        self.server: int | None = None
        """The pid of the running server."""
        self._status = 0
        """Exit status of the server that ran last."""
        self._birthplace = Birthplace()
        self._directory = directory
        self.capacities = dict.fromkeys(self.seeds, capacity)
        """By bot, the number of matches that it plays at once."""
        self._thinks = thinks
        self._options = [word for table in TABLES for word in ("--seats", table)]
        if not search:
            self._options += ["--house-search", "0"]
        self._address = f"127.0.0.1:{free_port()}"
        self._bots: list[subprocess.Popen[str]] = []
        self._witnesses: dict[int, Witness] = {}
        self._checked = dict.fromkeys(self.seeds, 0)

    def __repr__(self) -> str:
        state = f"pid {self.server}" if self.server is not None else f"ended with {self._status}"
        return f"<Trial in {self.data}: server {state} at {self._address}, killed {self.kills} times; log {self.log}>"

    # --- processes ---

    def start(self, step: str = "", time: int = 1, *, drain: float = 0.0) -> None:
        """Start a server without waiting until it listens. It dies when it reaches `step` for the `time`-th time."""
        options = ["--data", self.data, "--address", self._address, "--patience", "0.3", "--drain", drain, "--log-json"]
        self._birthplace.say(json.dumps([step, time, [*map(str, options), *self._options], str(self.log)]))
        self.server = int(self._birthplace.hear().removeprefix("pid "))

    def listens(self) -> bool:
        """Wait until the server listens. Return False if it died first."""
        return "listens on" in self._said()

    def _said(self) -> str:
        """Return the server's next output, or its exit status."""
        said = self._birthplace.hear()
        if said.startswith("ended "):
            self.server, self._status = None, int(said.removeprefix("ended "))
        return said

    def kill(self) -> None:
        """Kill the server at whatever step it has reached."""
        assert self.server is not None
        os.kill(self.server, signal.SIGKILL)
        self.dead()

    def dead(self) -> None:
        """Wait until SIGKILL has ended the server and its writer process is gone. Check the files that they left."""
        self._ended(-signal.SIGKILL)
        with database_of(self.data).locked():
            pass
        self.kills += 1
        self.look()

    def tear(self) -> None:
        """Append half a row to the journal, like a server that dies while writing."""
        newest = max((self.data / "journal").glob("*.log"))
        with newest.open("ab") as file:
            file.write(b'0123abcd 1 {"in":"acted","at":')

    def stop(self) -> None:
        """Stop the server cleanly."""
        assert self.server is not None
        os.kill(self.server, signal.SIGTERM)
        self._ended(0)

    def refused(self, why: str) -> None:
        """Wait for a server that cannot start. Check that its log contains the reason."""
        self._ended(1)
        assert why in self.last_words

    def _ended(self, status: int) -> None:
        while self.server is not None:
            self._said()
        assert self._status == status, f"the server ended with {self._status}:\n{self.last_words}"

    @property
    def last_words(self) -> str:
        """Return the last part of the servers' log."""
        return "\n".join(self.log.read_text().splitlines()[-30:])

    def come(self, event: str = "") -> None:
        """Start the bots, whether or not a server runs. They enter an event if one is named."""
        for name, own in self.seeds.items():
            command = [sys.executable, "-m", "tests.crash.crash_bot", self._address, name, own]
            with (self._directory / f"{name}.log").open("w") as log:
                words = [*command, str(self.capacities[name]), str(self._thinks), str(self._directory)]
                environment = os.environ | {"ARENA_EVENTS": event}
                self._bots.append(subprocess.Popen(words, stderr=log, text=True, cwd=ROOT, env=environment))

    def play(self) -> None:
        """Wait until all bots have registered and received a question."""
        for notes in self.notes.values():
            until(lambda notes=notes: notes.path.exists() and notes.read().asked, "every bot to play")  # type: ignore[misc]

    def begin(self) -> None:
        """Start a server and the bots. Wait until all bots play."""
        self.start()
        assert self.listens(), self.last_words
        self.come()
        self.play()

    def progress(self, results: int) -> None:
        """Wait until the bots have received the given number of further results."""
        goal = self.results() + results
        until(lambda: self.results() >= goal, f"{results} more results")

    def silence(self) -> None:
        """Wait until the bots receive no more questions."""
        known, since = -1, 0.0

        def silent() -> bool:
            nonlocal known, since
            asked = sum(len(notes.read().asked) for notes in self.notes.values())
            if asked > known:
                known, since = asked, time.monotonic()
            return time.monotonic() - since > 1

        until(silent, "the bots to be asked nothing more")

    def says(self, *words: str) -> None:
        """Wait until the server's log contains another of these events."""

        def said() -> int:
            return sum(map(self.log.read_text().count, words))

        known = said()
        until(lambda: said() > known, " or ".join(words))

    def results(self) -> int:
        """Return the number of results that the bots have received."""
        return sum(len(notes.read().told) for notes in self.notes.values())

    def leave(self) -> None:
        """End all running processes."""
        if self.server is not None:
            os.kill(self.server, signal.SIGKILL)
        self._birthplace.close()
        for bot in self._bots:
            bot.kill()
            bot.wait()

    # --- the judge ---

    def look(self) -> None:
        """Check that the data directory contains everything that was shown or sent, as if the server had just died."""
        assert all(bot.poll() is None for bot in self._bots), "a bot ended"
        for notes in self.notes.values():
            if notes.path.exists():
                notes.read()
        with open_readonly(self.data) as connection:
            stored = {match.match_id: match for match in matches.list_matches(connection, limit=100_000)}
        void = [match for match in stored.values() if match.state is MatchState.INTERRUPTED]
        assert not void, f"match {void[0].match_id} is void: {void[0].reason}"
        left = {match.match_id for match in stored.values() if match.state is MatchState.PLAYING}
        for match, lines in journal_of(self.data).items():
            if match in left:
                if match not in self._witnesses:
                    self._witnesses[match] = Witness(lines[0])
                self._witnesses[match].follow(lines)
        for name, notes in self.notes.items():
            new = notes.asked[self._checked[name] :]
            self._checked[name] += len(new)
            for asked in new:
                if asked.match_id in left:
                    ask = self._witnesses[asked.match_id].asked.get(asked.decision)
                    assert ask is not None, f"{name} was asked what does not follow from the journal: {asked}"
                    assert question(ask)[1] == asked.question
            for match, (seat, scores, places) in notes.told.items():
                assert match in stored, f"match {match}, of which {name} was told, is not stored"
                seats = stored[match].seats
                assert (seats[seat].bot, [each.score for each in seats]) == (name, scores)
                assert [each.place for each in seats] == places

    def finish(self) -> None:
        """Start a last server that plays all matches to their end. Then judge them."""
        self.start(drain=PATIENCE)
        assert self.listens(), self.last_words
        self.stop()
        self.look()
        self.judge()

    def judge(self) -> None:
        """Compare every match with the same match without a disturbance, and the ladder with a rebuild."""
        found = audit(self.data)
        assert found.playing == []
        assert found.interrupted == []
        lives: Counter[int] = Counter()
        moves: dict[tuple[int, int], Move] = {}
        for number, replay in found.replays.items():
            header = replay.header
            course, calm = course_of(header, replay.inputs), undisturbed(header, self.seeds)
            chosen = {decision: (move.bot, move.action) for decision, move in calm.moves.items()}
            assert course.moves == chosen, f"match {number} went another way"
            assert course.over == calm.over, f"match {number} came to another end"
            assert course.least_bank > header.policy.bank - SLOWNESS, f"match {number} cost a bot of its bank"
            lives[course.restored] += 1
            moves |= {(number, decision): move for decision, move in calm.moves.items()}
        for name, notes in self.notes.items():
            for match, decision, mark, action in notes.asked:
                assert moves[match, decision] == Move(name, mark, action)
            assert notes.noticed.keys() <= QUIET, f"{name} was told {notes.noticed}"
        asked = {each[:2] for notes in self.notes.values() for each in notes.asked}
        assert asked == {key for key, move in moves.items() if move.bot in self.seeds}
        print(
            f"{self.kills} kills, {len(found.finished)} matches, {len(moves)} decisions, {self.results()} results told;"
            f" {len(found.finished) - lives[0]} matches lived through a death, at most through {max(lives)}"
        )
        self.lived_through = len(found.finished) - lives[0]


@contextmanager
def trial(
    directory: Path,
    chosen: str,
    *,
    bots: int = 5,
    capacity: int = 8,
    thinks: float = 0.02,
    data: Path | None = None,
    search: bool = False,
) -> Iterator[Trial]:
    """A trial whose processes end with the `with` block. Its data may be in another folder.

    A bot plays up to `capacity` matches at once and takes `thinks` seconds for the questions of one message. With
    `search`, searching house bots play, too. Servers and judge then need much time for each of their decisions.
    """
    it = Trial(directory, data or directory / "data", chosen, bots, capacity, thinks, search)
    try:
        yield it
    finally:
        it.leave()


def free_port() -> int:
    """Return a port below the range of outgoing connections. Otherwise a bot without a server could connect to
    itself.
    """
    chance = Random()
    while True:
        port = chance.randrange(20_000, 32_000)
        with socket.socket() as trial_socket:
            trial_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial_socket.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
