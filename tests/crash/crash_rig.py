"""A server that dies again and again on the same data and port, bots that live through it, and the judge of both.

The judge plays every finished match again undisturbed, with the same seed and nonces: the same bots must have been asked
the same, have chosen the same and have ended the same.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from arena.house import HOUSE_BOTS
from arena.match.effects import Ask, Back, Hold, Over, Release, Show
from arena.match.inputs import Acted, Begun, Input, Instant, Restored, Sent
from arena.match.match import Match
from arena.replay.header import Header
from arena.replay.read import read, read_unfinished
from arena.store import matches
from arena.store.matches import MatchState
from arena.store.store import open_readonly
from arena.server.messages import Outgoing, Question
from arena.wire.codec import encode
from engine.deal import SeededDecks, match_key
from tests.crash.crash_bot import choice, fingerprint
from tests.end_to_end.e2e_rig import audit

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds after which a trial gives up; only ever reached when it fails."""
SERVE = ("arena.cli", "serve")
TABLES = ("sixth_sense:2", "sixth_sense:3", "sixth_sense:6", "nullern:2", "nullern:3", "nullern:5")
FAIR = (Ask, Show, Over, Hold, Release, Back)
"""What may happen in a match in which only the server misbehaves. `Back` is how a house bot's seat returns."""


def until(done: Callable[[], object], what: str) -> None:
    """Waits until something holds that only a look can tell."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.01)


def seed() -> str:
    """What all chance of a trial comes from, but the server's own: CRASH_SEED or a new one. Shown when a test fails."""
    chosen = os.environ.get("CRASH_SEED") or os.urandom(4).hex()
    print(f"CRASH_SEED={chosen}")
    return chosen


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answer."""

    match: int
    decision: int
    question: str
    """Its fingerprint."""
    action: int


@dataclass
class Notes:
    """What one bot has noted."""

    path: Path
    asked: list[Asked] = field(default_factory=list)
    told: dict[int, tuple[int, list[int], list[int]]] = field(default_factory=dict)
    """Match → its seat, the scores and the places."""
    noticed: Counter[str] = field(default_factory=Counter)
    _read: int = 0

    def read(self) -> Notes:
        """Reads what is new."""
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
                self.noticed[words[1]] += 1
        return self


class Trial:
    """One data directory and its bots, from the first server to the last."""

    def __init__(self, directory: Path, data: Path, chosen: str, bots: int, capacity: int) -> None:
        self.chance = Random(chosen)
        self.data = data
        self.log = directory / "log"
        self.seeds = {f"bot{number}": f"{chosen} {number}" for number in range(bots)}
        self.notes = {name: Notes(directory / f"{name}.notes") for name in self.seeds}
        self.kills = 0
        self.server: subprocess.Popen[str] | None = None
        self._directory = directory
        self._capacity = capacity
        self._options = [word for table in TABLES for word in ("--seats", table)]
        self._address = f"127.0.0.1:{_free_port()}"
        self._bots: list[subprocess.Popen[str]] = []
        self._checked = dict.fromkeys(self.seeds, 0)

    # --- processes ---

    def start(self, *program: str, drain: float = 0.0) -> None:
        """Starts a server, without waiting for it to be one."""
        options = ["--data", self.data, "--address", self._address, "--patience", "0.3", "--drain", drain, "--log-json"]
        command = [sys.executable, "-m", *(program or SERVE), *map(str, options), *self._options]
        with self.log.open("a") as log:
            self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)

    def listens(self) -> bool:
        """Waits until the server listens; False if it died before."""
        assert self.server is not None
        assert self.server.stdout is not None
        return "listens on" in self.server.stdout.readline()

    def kill(self) -> None:
        """Kills the server, wherever it is."""
        assert self.server is not None
        self.server.kill()
        self.dead()

    def dead(self) -> None:
        """Waits for the server's death by SIGKILL and looks at what it left."""
        self._ended(-signal.SIGKILL)
        self.kills += 1
        self.look()

    def tear(self) -> None:
        """Leaves half a line at the end of the journal, as if the server had died while it wrote."""
        newest = max((self.data / "journal").glob("*.log"))
        with newest.open("ab") as file:
            file.write(b'0123abcd 1 {"in":"acted","at":')

    def stop(self) -> None:
        """Has the server stop in an orderly way."""
        assert self.server is not None
        self.server.terminate()
        self._ended(0)

    def refused(self, why: str) -> None:
        """Waits for a server that could not begin, and for its reason."""
        self._ended(1)
        assert why in self.last_words

    def _ended(self, status: int) -> None:
        server, self.server = self.server, None
        assert server is not None
        found = server.wait(PATIENCE)
        assert server.stdout is not None
        server.stdout.close()
        assert found == status, f"the server ended with {found}:\n{self.last_words}"

    @property
    def last_words(self) -> str:
        """The end of the servers' log."""
        return "\n".join(self.log.read_text().splitlines()[-30:])

    def come(self) -> None:
        """Starts the bots and waits until all are registered and have been asked something."""
        for name, own in self.seeds.items():
            command = [sys.executable, "-m", "tests.crash.crash_bot", self._address, name, own]
            with (self._directory / f"{name}.log").open("w") as log:
                words = [*command, str(self._capacity), str(self._directory)]
                self._bots.append(subprocess.Popen(words, stderr=log, text=True, cwd=ROOT))
        for notes in self.notes.values():
            until(lambda notes=notes: notes.path.exists() and notes.read().asked, "every bot to play")  # type: ignore[misc]

    def progress(self, results: int) -> None:
        """Waits for the bots to be told of so many more results."""
        goal = self.results() + results
        until(lambda: self.results() >= goal, f"{results} more results")

    def silence(self) -> None:
        """Waits until the bots are asked nothing more."""
        known, since = -1, 0.0

        def silent() -> bool:
            nonlocal known, since
            asked = sum(len(notes.read().asked) for notes in self.notes.values())
            if asked > known:
                known, since = asked, time.monotonic()
            return time.monotonic() - since > 1

        until(silent, "the bots to be asked nothing more")

    def says(self, words: str) -> None:
        """Waits for the server's log to have a word on something that it has not had before."""
        known = self.log.read_text().count(words)
        until(lambda: self.log.read_text().count(words) > known, words)

    def results(self) -> int:
        """Results the bots were told."""
        return sum(len(notes.read().told) for notes in self.notes.values())

    def leave(self) -> None:
        """Ends whatever still runs."""
        for process in self._bots + ([self.server] if self.server is not None else []):
            process.kill()
            process.wait()

    # --- the judge ---

    def look(self) -> None:
        """Nothing was shown or told that the data directory does not account for, should the server die now."""
        assert all(bot.poll() is None for bot in self._bots), "a bot ended"
        for notes in self.notes.values():
            if notes.path.exists():
                notes.read()
        with open_readonly(self.data) as connection:
            stored = {match.id: match for match in matches.list_matches(connection, limit=100_000)}
        void = [match for match in stored.values() if match.state is MatchState.INTERRUPTED]
        assert not void, f"match {void[0].id} is void: {void[0].reason}"
        left = {match.id for match in stored.values() if match.state is MatchState.PLAYING}
        known: dict[int, Mapping[int, Ask]] = {}
        journal = _journal(self.data)
        for name, notes in self.notes.items():
            new = notes.asked[self._checked[name] :]
            self._checked[name] += len(new)
            for asked in new:
                if asked.match in left:
                    if asked.match not in known:
                        known[asked.match] = _asks(journal[asked.match])
                    ask = known[asked.match].get(asked.decision)
                    assert ask is not None, f"{name} was asked what does not follow from the journal: {asked}"
                    assert _question(ask)[1] == asked.question
            for match, (seat, scores, places) in notes.told.items():
                assert match in stored, f"match {match}, of which {name} was told, is not stored"
                seats = stored[match].seats
                assert (seats[seat].bot, [each.score for each in seats]) == (name, scores)
                assert [each.place for each in seats] == places

    def finish(self) -> None:
        """Has a last server play everything to its end, and judges it all."""
        self.start(drain=PATIENCE)
        assert self.listens(), self.last_words
        self.stop()
        self.look()
        self.judge()

    def judge(self) -> None:
        """Compares every match with the same match undisturbed, and the ladder with a rebuild."""
        found = audit(self.data)
        assert found.playing == []
        assert found.interrupted == []
        restored: Counter[int] = Counter()
        questions: dict[tuple[int, int], tuple[str, str, int]] = {}
        with open_readonly(self.data) as connection:
            for match in found.finished:
                replay = read(matches.get_replay(connection, match.id), f"match {match.id}")
                course = _course(replay.header, replay.inputs)
                calm = _undisturbed(replay.header, self.seeds)
                assert course.moves == calm.moves, f"match {match.id} went another way"
                assert course.over == calm.over, f"match {match.id} ended otherwise"
                assert not any(course.over.forced), f"in match {match.id} the server chose for a bot"
                assert not any(course.over.troubled)
                assert course.least_bank == replay.header.policy.bank, f"match {match.id} cost a bot its bank"
                restored[course.restored] += 1
                questions |= {(match.id, decision): asked for decision, asked in calm.moves.items()}
        for name, notes in self.notes.items():
            for asked in notes.asked:
                expected = (name, asked.question, asked.action)
                assert questions[asked.match, asked.decision] == expected, f"{name}: {asked}"
            strange = notes.noticed.keys() - {f"NOTICE_KIND_{kind}" for kind in ("HELD", "RELEASED", "DRAINING", "WITHDRAWN", "BACK")}
            assert not strange, f"{name} was told {notes.noticed}"
        answered = {(asked.match, asked.decision) for notes in self.notes.values() for asked in notes.asked}
        assert answered == {key for key, (bot, _, _) in questions.items() if bot in self.seeds}
        lived_through = len(found.finished) - restored[0]
        print(
            f"{self.kills} kills; {len(found.finished)} matches, {lived_through} of them lived through one or more"
            f" (at most {max(restored, default=0)}); {self.results()} results told; {len(questions)} decisions"
        )
        assert lived_through > 0


@contextmanager
def trial(
    directory: Path, chosen: str, *, bots: int = 5, capacity: int = 16, data: Path | None = None
) -> Iterator[Trial]:
    """A trial, whose processes are gone at the end of the block; its data may be somewhere else."""
    it = Trial(directory, data or directory / "data", chosen, bots, capacity)
    try:
        yield it
    finally:
        it.leave()


def _free_port() -> int:
    """A port below those that the system gives to connections: a bot that finds nobody there must not meet itself."""
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


def _journal(data: Path) -> dict[int, list[str]]:
    """Match → the lines that the journal has of it, as far as they are whole."""
    found: dict[int, list[str]] = {}
    for path in sorted((data / "journal").glob("*.log")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            crc, _, body = line.partition(b" ")
            if f"{zlib.crc32(body):08x}".encode() != crc:
                break
            match, _, text = body.decode().partition(" ")
            if text.startswith('{"arena_replay"'):
                found[int(match)] = []
            found.setdefault(int(match), []).append(text)
    return found


@dataclass
class Course:
    """What happened in a match, as far as a bot can tell."""

    moves: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    """Decision → the bot, the fingerprint of its question, its choice."""
    over: Over | None = None
    restored: int = 0
    least_bank: int = 1 << 62


def _match(header: Header) -> Match:
    decks = SeededDecks(match_key(header.seed, header.nonces))
    return Match(header.game, len(header.bots), header.options, decks, header.policy)


def _question(ask: Ask) -> tuple[bytes, str]:
    """The bytes of its view as a bot sees it, and its fingerprint."""
    (decision,) = encode(Outgoing(questions=[Question(0, ask)])).decisions
    view = getattr(decision, decision.WhichOneof("view") or "").SerializeToString(deterministic=True)
    return view, fingerprint(view, list(ask.legal))


def _asks(lines: Sequence[str]) -> Mapping[int, Ask]:
    """Decision → the question, for all that the inputs in a journal bring about."""
    header, inputs = read_unfinished(lines, "journal")
    match = _match(header)
    effects = [effect for event in inputs or (Begun(Instant(0)),) for effect in match.receive(event)]
    return {effect.decision: effect for effect in effects if isinstance(effect, Ask)}


def _course(header: Header, inputs: Sequence[Input]) -> Course:
    """A match as it was recorded."""
    match, course = _match(header), Course()
    asks: dict[int, Ask] = {}
    for event in inputs:
        effects = match.receive(event)
        for effect in effects:
            assert isinstance(effect, FAIR), f"match {header.match}: {effect} because of {event}"
            if isinstance(effect, Ask):
                asks[effect.decision] = effect
                course.least_bank = min(course.least_bank, effect.bank)
            elif isinstance(effect, Over):
                course.over = effect
        if isinstance(event, Restored):
            course.restored += 1
        elif isinstance(event, Acted):
            bot = header.bots[event.seat].name
            course.moves[event.decision] = bot, _question(asks[event.decision])[1], event.action
    return course


def _undisturbed(header: Header, seeds: Mapping[str, str]) -> Course:
    """The same match played to its end without any server."""
    match, course = _match(header), Course()
    house = {bot.name: bot for bot in HOUSE_BOTS[header.game.name]}
    chance = match_key(header.seed, header.nonces)
    todo: deque[Input] = deque((Begun(Instant(0)),))
    while todo:
        for effect in match.receive(todo.popleft()):
            if isinstance(effect, Over):
                course.over = effect
            elif isinstance(effect, Ask):
                bot = header.bots[effect.seat]
                view, question = _question(effect)
                if bot.house:
                    drawn = sha256(chance + effect.decision.to_bytes(4)).digest()
                    action = house[bot.name].decide(effect.view, effect.legal, drawn)
                else:
                    action = choice(seeds[bot.name], view, effect.legal)
                course.moves[effect.decision] = bot.name, question, action
                at = Instant(match.now + 1)
                todo += (Sent(at, effect.seat, effect.decision, 0), Acted(at, effect.seat, effect.decision, action))
    return course
