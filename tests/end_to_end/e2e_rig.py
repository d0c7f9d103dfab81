"""Shared parts of the end-to-end tests: servers and bots as processes, bots under a test's control, the audit of a data
directory.

Every wait ends as soon as its event happens, and has a limit.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from arena_client.v1 import bots_pb2, bots_pb2_grpc, matches_pb2, matches_pb2_grpc
from sqlalchemy import Connection, select

from arena.ladder import live
from arena.ladder.events import Entrant, MatchResult
from arena.ladder.ladder import FieldFigures, Ladder
from arena.ladder.live import replayed_since
from arena.replay.header import MatchKind
from arena.replay.read import read
from arena.replay.replay import Replay
from arena.replay.verify import Rate, verify
from arena.store import schema
from arena.store.base.directory import database_of
from arena.store.base.rows import MatchRow, MatchState
from arena.store.ladder import events
from arena.store.ladder.publishing import as_published
from arena.store.ladder.rebuild import verify as verify_ladder
from arena.store.matches import matches
from arena.store.opening import open_readonly
from engine.registry import GAMES
from tests.cli.cli_rig import shown
from tests.end_to_end.raw_bot import PATIENCE as PATIENCE
from tests.end_to_end.raw_bot import Ended as Ended
from tests.end_to_end.raw_bot import RawBot as RawBot
from tests.end_to_end.raw_bot import channel_to as channel_to
from tests.waiting import until as until

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ARENA = Path(sys.executable).with_name("arena")
LITTLE_TIME = {"--soft-limit": "0.3", "--bank": "0.4", "--grace": "1", "--restart-hold": "3", "--ready-limit": "5"}
IMPATIENT = (str(ARENA), "serve", *(word for setting in LITTLE_TIME.items() for word in setting))
"""Options of a server with short time limits for bots. Tests then need not wait until a bank of half a minute is
empty.
"""


def tail(text: str, lines: int = 5) -> str:
    """Return the last lines, for a failure message."""
    return repr("\n".join(text.splitlines()[-lines:]))


# --- servers ---


class Server:
    """A server process that listens."""

    def __init__(self, process: subprocess.Popen[str], data: Path, log: Path) -> None:
        self.process = process
        self.data = data
        self._log = log
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        assert process.stdout is not None
        self.said = process.stdout.readline()
        """The first line of the server's output."""
        timer.cancel()
        assert "listens on" in self.said, f"the server did not start: {self.said!r}; {self.log}"
        self.address = self.said.split("listens on ")[1].split(",")[0]
        self.journal = self.journal_size()
        """Size of the server's journals at its start, in bytes."""

    def __repr__(self) -> str:
        state = "runs" if self.process.poll() is None else f"ended with {self.process.returncode}"
        return f"<Server {self.address} pid {self.process.pid} {state} in {self.data}; its log ends {tail(self.log)}>"

    @property
    def log(self) -> str:
        return self._log.read_text()

    def journal_size(self) -> int:
        """Return the size of all journals of the server, in bytes."""
        return sum(file.stat().st_size for file in (self.data / "journal").rglob("*.log"))

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    @property
    def writer_process(self) -> int:
        """Return the process that writes the server's database."""
        return int(re.findall(r'"writer_process": (\d+)', self.log)[-1])

    def kill(self) -> None:
        """Kill the server. Wait until its writer process has written everything that it received."""
        self.signal(signal.SIGKILL)
        assert self.ended() == -signal.SIGKILL
        with database_of(self.data).locked():
            pass

    def ended(self, patience: float = PATIENCE) -> int:
        """Wait until the server ends. Return its exit status."""
        return self.process.wait(patience)

    def memory(self, kind: str = "VmRSS") -> int:
        """Return the server's resident memory in bytes. "VmHWM" selects its maximum so far."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(kind):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {kind}")


@contextmanager
def server(
    data: Path,
    *options: str,
    program: Sequence[str] = (str(ARENA), "serve"),
    address: str = "127.0.0.1:0",
    seats: str = "2",
    log: Path | None = None,
) -> Iterator[Server]:
    """Run a server during the `with` block. Kill it if it still runs at the end."""
    log = log or data.with_name(f"{data.name}.log")
    command = [*program, "--data", str(data), "--address", address, "--seats", seats, "--no-house", *options]
    with log.open("a") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT)
    try:
        yield Server(process, data, log)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def small_disk(directory: Path, size: str) -> Iterator[Path]:
    """Mount an in-memory file system during the `with` block. Skip the test if mounting is not permitted."""
    disk = directory / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def failing_server(*arguments: str) -> tuple[int, str]:
    """Return exit status and last lines of a server that must fail to start."""
    command = [str(ARENA), "serve", "--no-house", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT, check=False)
    return ran.returncode, ran.stderr


@contextmanager
def program(*command: str, listened_to: bool = True, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process with further environment variables during the `with` block. Kill it if it still runs at the end."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE if listened_to else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, **variables},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


# --- bots ---


def register(address: str, name: str, owner: str = "") -> str:
    """Register a new bot. Return its token."""
    with channel_to(address) as channel:
        stub = bots_pb2_grpc.BotServiceStub(channel)
        answer = stub.RegisterBot(bots_pb2.RegisterBotRequest(name=name, owner=owner), timeout=PATIENCE)
        return str(answer.token)


class Crowd:
    """A group of bots that disconnect at the end of the `with` block."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.bots: list[RawBot] = []
        self.tokens: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Crowd at {self.address}: {self.bots}>"

    def come(self, name: str, **how: Any) -> RawBot:
        """Connect the bot of this name on a new stream. Register the bot the first time."""
        return self.stranger(self.token(name), **how)

    def token(self, name: str) -> str:
        """Return the token of the bot of this name. Register the bot the first time."""
        if name not in self.tokens:
            self.tokens[name] = register(self.address, name)
        return self.tokens[name]

    def stranger(self, token: str, **how: Any) -> RawBot:
        bot = RawBot(self.address, token, **how)
        self.bots.append(bot)
        return bot

    def __enter__(self) -> Crowd:
        return self

    def __exit__(self, *_: object) -> None:
        for bot in self.bots:
            bot.close()


def listed(address: str, **request: Any) -> list[matches_pb2.MatchEntry]:
    """Return matches as the server lists them, newest first."""
    with channel_to(address) as channel:
        stub = matches_pb2_grpc.MatchServiceStub(channel)
        return list(stub.ListMatches(matches_pb2.ListMatchesRequest(**request), timeout=PATIENCE).matches)


def is_connected(address: str, name: str) -> bool:
    """Return True if the server reports the bot as connected."""
    with channel_to(address) as channel:
        bots = bots_pb2_grpc.BotServiceStub(channel).ListBots(bots_pb2.ListBotsRequest(), timeout=PATIENCE).bots
        return any(bot.connected for bot in bots if bot.name == name)


def replay_of(address: str, match_id: int) -> bytes:
    with channel_to(address) as channel:
        stub = matches_pb2_grpc.MatchServiceStub(channel)
        pieces = stub.GetReplay(matches_pb2.GetReplayRequest(match_id=match_id), timeout=PATIENCE)
        return b"".join(piece.chunk for piece in pieces)


def why(address: str, match_id: int, bot: str) -> dict[str, Any]:
    """Return the output of `arena why` about a bot's seat."""
    said = json.loads(shown("why", match_id, "--server", address, "--json"))
    return next(seat for seat in said["seats"] if seat["bot"] == bot)


# --- stored data ---


def rate(
    before: Sequence[Any],
    places: Sequence[int],
    bots: Sequence[str],
    counts: Sequence[bool],
    spoilt: Sequence[bool],
    beyond_quota: Collection[tuple[int, int]] = (),
) -> Sequence[Any]:
    ratings = [live.Rating(each.value, each.deviation) for each in before]
    return live.update(ratings, places, bots, counts, spoilt, beyond_quota)


@dataclass
class Audit:
    """The contents of a valid data directory."""

    finished: list[MatchRow]
    interrupted: list[MatchRow]
    playing: list[MatchRow]
    replays: Mapping[int, Replay]
    """Replays of the finished matches, by number."""


def audit(data: Path) -> Audit:
    """Check that every match is complete, every replay verifies, and each ladder follows from its finished matches."""
    with open_readonly(data) as connection:
        stored = matches.list_matches(connection, limit=100_000)
        by_state = {state: [match for match in stored if match.state is state] for state in MatchState}
        assert len({match.match_id for match in stored}) == len(stored)
        replays: dict[int, Replay] = {
            match.match_id: _checked(match, matches.get_replay(connection, match.match_id))
            for match in by_state[MatchState.FINISHED]
        }
        for match in (*by_state[MatchState.PLAYING], *by_state[MatchState.INTERRUPTED]):
            assert all(seat.score is seat.place is seat.rating_after is None for seat in match.seats)
        rows = connection.execute(select(schema.matches.c.id, schema.matches.c.ladder)).all()
        ladders = {row.id: row.ladder for row in rows}
        for ladder in {*GAMES, *ladders.values()}:
            finished = [match for match in by_state[MatchState.FINISHED] if ladders[match.match_id] == ladder]
            _check_ladder(connection, ladder, finished, replays)
    return Audit(
        finished=by_state[MatchState.FINISHED],
        interrupted=by_state[MatchState.INTERRUPTED],
        playing=by_state[MatchState.PLAYING],
        replays=replays,
    )


def _checked(match: MatchRow, content: bytes) -> Replay:
    replay = read(content)
    verdict = verify(replay, cast("Rate", rate))
    assert verdict.verified, verdict.difference
    assert verdict.ratings or match.kind is not MatchKind.RATED
    assert replay.header.kind is match.kind
    assert replay.header.match_id == match.match_id
    assert [bot.name for bot in replay.header.bots] == [seat.bot for seat in match.seats]
    assert list(replay.result.scores) == [seat.score for seat in match.seats]
    assert list(replay.result.places) == [seat.place for seat in match.seats]
    assert list(replay.result.forced) == [seat.forced for seat in match.seats]
    if match.kind is not MatchKind.RATED:
        assert replay.ratings is None
        assert {seat.rating_after for seat in match.seats} == {None}
        return replay
    assert replay.ratings is not None
    for change, seat in zip(replay.ratings, match.seats, strict=True):
        assert (change.before.value, change.after.value) == (seat.rating_before, seat.rating_after)
    return replay


def _check_ladder(
    connection: Connection, ladder_id: str, finished: Sequence[MatchRow], replays: Mapping[int, Replay]
) -> None:
    """Check three things: the ladder's history contains exactly the finished matches, the published ladder equals a fit
    of them bit for bit, and the live ratings continue from it.
    """
    finished = [match for match in finished if match.kind is MatchKind.RATED]
    results = {each.match_id: each for each in events.read(connection, ladder_id) if isinstance(each, MatchResult)}
    assert results.keys() == {match.match_id for match in finished}
    for match in finished:
        assert results[match.match_id].places == tuple(seat.place for seat in match.seats)
        replay = replays[match.match_id].result
        assert results[match.match_id].counts == replay.counts
        assert (results[match.match_id].spoilt or (False,) * len(replay.spoilt)) == replay.spoilt
        assert [seat.spoilt for seat in match.seats] == [*replay.spoilt]
    ladder = as_published(connection, ladder_id)
    if ladder is None:
        ladder = Ladder((), (), 0, "", FieldFigures(0.0, 1500.0, 0.0))
    else:
        assert verify_ladder(connection, ladder_id).identical
    versions = connection.execute(select(schema.versions.c.id, schema.versions.c.parent))
    entrants = [Entrant(row.id, row.parent) for row in versions]
    ratings = replayed_since(ladder, entrants, events.read(connection, ladder_id))
    rows = connection.execute(select(schema.ratings).where(schema.ratings.c.ladder == ladder_id)).all()
    assert {row.node: live.Rating(row.rating, row.deviation) for row in rows if row.matches} == ratings
    standing = [results[match.match_id] for match in finished if not match.voided]
    counted = Counter(
        node for each in standing for node in {node for node, does in zip(each.nodes, each.counts, strict=True) if does}
    )
    assert {row.node: row.matches for row in rows if row.matches} == counted
