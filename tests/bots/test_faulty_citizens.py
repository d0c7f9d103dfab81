"""Bots that misbehave in every known way, each a process at a table with two correct bots.

The other bots must finish their match unharmed, the server's memory must not grow, and the record must show the
behaviour. The server sends the bot the reason if it can still reach it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import sleep
from typing import Any, Final, NamedTuple

import pytest
from arena_client.v1 import play_pb2 as pb

from arena.replay.read import read
from arena.replay.verify import verify
from tests.end_to_end.e2e_rig import Crowd, Server, audit, is_connected, listed, program, replay_of, server, until
from tests.end_to_end.raw_bot import PATIENCE, RawBot

STRICT: Final = (sys.executable, str(Path(__file__).with_name("strict_server.py")))
MEGABYTE: Final = 1 << 20
PEAK: Final = 32 * MEGABYTE
"""Maximum growth of the server's memory during one misbehaviour."""
GROWTH: Final = 24 * MEGABYTE
"""Maximum growth of the server's memory over all misbehaviours."""


class Expected(NamedTuple):
    """The expected consequences of a misbehaviour."""

    record: frozenset[str] = frozenset()
    """Entries of the replay about the seat, except its answers."""
    perhaps: frozenset[str] = frozenset()
    """Further entries that the replay may contain, depending on timing. Any other entry is an error."""
    server: str = "brief"
    """The server's set of limits."""
    last: bool = False
    """True if the bot gets the last place regardless of its points."""
    told: frozenset[str] = frozenset()
    """Kinds of notices that the bot must receive. It may receive others."""
    end: str = ""
    """The status of the bot's stream, if the server ended it."""
    text: str = ""
    """A text that the status's message contains."""


def expected(
    record: str = "",
    *,
    perhaps: str = "",
    server: str = "brief",
    last: bool = False,
    told: str = "",
    end: str = "",
    text: str = "",
) -> Expected:
    """Parse expectations, separated by commas."""
    several = [frozenset(part.strip() for part in parts.split(",") if part) for parts in (record, perhaps, told)]
    return Expected(several[0], several[1], server, last, several[2], end, text)


VANISHED: Final = "gone, substituted"
IN_A_MATCH: Final = {
    "silent": expected(
        "forced by time, suspended, forced by suspension", server="hasty", told="FORCED_BY_TIME, SUSPENDED"
    ),
    "late": expected(
        "forced by time, refused as stale, suspended",
        perhaps="forced by suspension",
        server="hasty",
        told="FORCED_BY_TIME, STALE, SUSPENDED",
    ),
    "stopped": expected(
        "forced by time, suspended, forced by suspension", server="hasty", told="FORCED_BY_TIME, SUSPENDED"
    ),
    "illegal": expected("refused as illegal, forced by illegality", told="ILLEGAL, FORCED_BY_ILLEGALITY"),
    "wrong-ids": expected("refused as unknown", told="UNKNOWN"),
    "doubled": expected("refused as stale", told="STALE"),
    "garbage": expected(VANISHED, last=True, end="INVALID_ARGUMENT", text="cannot be parsed"),
    "flood": expected(VANISHED, last=True, told="UNKNOWN", end="RESOURCE_EXHAUSTED", text="flooding"),
    "deaf": expected(VANISHED, last=True, end="RESOURCE_EXHAUSTED", text="flooding"),
    "one-message-of-100-megabytes": expected(
        VANISHED, last=True, end="RESOURCE_EXHAUSTED", text="a message has at most 1048576 bytes, not 104857600"
    ),
    "messages-of-100-megabytes": expected(VANISHED, last=True, end="RESOURCE_EXHAUSTED", text="KiB a second"),
    "dies-at-predict": expected(VANISHED, last=True),
    "dies-at-play": expected(VANISHED, last=True),
    "dies-at-block": expected(VANISHED, last=True),
    "dies-at-double": expected(VANISHED, last=True),
    "dies-at-peek": expected(VANISHED, last=True),
    "dies-at-bid": expected(VANISHED, last=True),
    "dies-at-blind": expected(VANISHED, last=True),
    "leaves": expected(VANISHED, last=True, end="OK"),
    "is-started-again": expected("gone, back", server="patient", told="BACK"),
    "is-started-again-late": expected("gone, substituted, back", told="SUBSTITUTED, BACK"),
    "connects-twice": expected(end="FAILED_PRECONDITION", text="took over"),
    "storm": expected("gone, back, substituted", perhaps="refused as substituted"),
    "storm-of-take-overs": expected(),
}
BEFORE_A_MATCH: Final = {
    "bad-token": expected(end="UNAUTHENTICATED", text="no bot has this token"),
    "garbage-for-a-greeting": expected(end="INVALID_ARGUMENT", text="cannot be parsed"),
    "dies-connected": expected(),
    "dies-greeted": expected(),
    "dies-invited": expected(),
    "dies-ready": expected(),
}
OF_ONES_OWN: Final = {
    pb.NOTICE_KIND_ILLEGAL,
    pb.NOTICE_KIND_STALE,
    pb.NOTICE_KIND_UNKNOWN,
    pb.NOTICE_KIND_FORCED_BY_TIME,
    pb.NOTICE_KIND_FORCED_BY_ILLEGALITY,
    pb.NOTICE_KIND_SUSPENDED,
}
"""Notices about the receiving bot's own actions."""
NULLERN: Final = {"dies-at-bid", "dies-at-blind", "is-started-again", "is-started-again-late"}
"""Misbehaviours that need a table of Nullern. The others use 6th Sense."""
LONG_MATCHES: Final = {"flood", "is-started-again-late"}
"""Misbehaviours that need a long match, so the other bots think before each answer."""
OF_ONE_GAME: Final = {f"dies-at-{choice}" for choice in ("predict", "block", "double", "peek", "bid", "blind")}
"""Misbehaviours that need a kind of choice that only one of the games has."""


# --- shared by the tests ---


@pytest.fixture(scope="module", params=["hasty", "brief", "patient"])
def arena(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Server]:
    data = tmp_path_factory.mktemp(request.param) / "data"
    with server(data, "--quiet", "--drain", "0", program=(*STRICT, request.param), seats="3") as arena:
        yield arena


@pytest.fixture(scope="module")
def level(arena: Server) -> int:
    """Return the server's memory in bytes after it has played a match of every game."""
    for game in ("sixth_sense", "nullern"):
        with Crowd(arena.address) as crowd:
            three = [citizen(crowd, f"first-{game}-{number}", game) for number in range(3)]
            until(lambda three=three: all(each.reports for each in three), "the first matches")  # type: ignore[misc]
    return arena.memory()


class Citizen(RawBot):
    """A bot that plays at random and always answers well before its time limit."""

    pause = 0.0
    """Seconds of thinking before every answer."""

    def answer(self, *decisions: pb.Decision, action: int | None = None) -> None:
        sleep(self.pause)
        chance = Random(self.answered)
        for decision in decisions:
            super().answer(decision, action=chance.choice(decision.legal))


def citizen(crowd: Crowd, name: str, game: str, pause: float = 0.0) -> RawBot:
    """A correct bot that plays in the background."""
    token = crowd.token(name)
    bot = Citizen(crowd.address, token, games=(game,))
    bot.pause = pause
    crowd.bots.append(bot)
    return bot.play_in_background()


class FaultyBot:
    """A faulty bot in its own process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._said: list[dict[str, Any]] = []
        self.match_id: int = self._next()["match"]

    def __repr__(self) -> str:
        process = self._process
        return f"<FaultyBot {process.args!r} pid {process.pid} status {process.poll()} match {self.match_id}>"

    def ended(self) -> dict[str, Any]:
        """Wait for the bot's end. Return the reason that it received, or an empty text if it died."""
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail("the faulty bot does not come to an end")
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                said: dict[str, Any] = json.loads(line)
                return said
        return {}

    def wake(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _next(self) -> dict[str, Any]:
        timer = threading.Timer(PATIENCE, self._process.kill)
        timer.start()
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:
            said.append(line)
            if line.startswith("{"):
                timer.cancel()
                found: dict[str, Any] = json.loads(line)
                return found
        raise AssertionError(f"the bot did not misbehave: {''.join(said)}")


@contextmanager
def faulty(crowd: Crowd, kind: str, game: str, prefix: str = "") -> Iterator[FaultyBot]:
    """Start a faulty bot of a kind. Wait until it has misbehaved."""
    with program("-m", "tests.bots.faulty", crowd.address, crowd.token(prefix + kind), game, kind) as process:
        yield FaultyBot(process)


def played(bots: list[RawBot], match_id: int) -> bool:
    """Return True if all bots received the result of a match."""
    return all(any(report.match_id == match_id for report in bot.reports) for bot in bots)


def about(seat: int, replay: Any) -> set[str]:
    """Return the replay's entries about a seat, except its answers."""
    found = set()
    for line in map(json.loads, replay.lines):
        if line.get("seat") == seat and "out" in line:
            how = {"refused": "refused as", "forced": "forced by"}.get(line["out"])
            found.add(f"{how} {line['why']}" if how else line["out"])
    return found


def reset_peak(arena: Server) -> None:
    Path(f"/proc/{arena.process.pid}/clear_refs").write_text("5")


# --- the tests ---


def each(kinds: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test once per misbehaviour, each with the server that it needs."""
    of = IN_A_MATCH | BEFORE_A_MATCH
    cases = [pytest.param(of[kind].server, kind, id=kind) for kind in kinds]
    return pytest.mark.parametrize(("arena", "kind"), cases, indirect=["arena"], scope="module")


@each(IN_A_MATCH)
def test_a_faulty_bot_harms_nobody_at_its_table(arena: Server, level: int, kind: str) -> None:
    harms_nobody(arena, level, kind, "nullern" if kind in NULLERN else "sixth_sense")


@pytest.mark.long
@each(sorted(set(IN_A_MATCH) - OF_ONE_GAME))
def test_a_faulty_bot_harms_nobody_at_tables_of_the_other_game(arena: Server, level: int, kind: str) -> None:
    harms_nobody(arena, level, kind, "sixth_sense" if kind in NULLERN else "nullern", "again-")


def harms_nobody(arena: Server, level: int, kind: str, game: str, prefix: str = "") -> None:
    expectation = IN_A_MATCH[kind]
    reset_peak(arena)
    with Crowd(arena.address) as crowd:
        pause = 0.02 if kind in LONG_MATCHES else 0.0
        others = [citizen(crowd, f"{prefix}{kind}-{name}", game, pause) for name in ("ann", "bob")]
        with faulty(crowd, kind, game, prefix) as bot:
            if kind == "stopped":
                until(lambda: played(others, bot.match_id), "the end of the match that a hung bot is in")
                bot.wake()
            told = bot.ended()
        until(lambda: played(others, bot.match_id), "the end of the match")
    assert told.get("end") == (expectation.end or None), told
    assert expectation.text in told.get("text", "")
    assert expectation.told <= set(told.get("notices", ())), told
    the_match_is_in_order(arena, bot.match_id, prefix + kind, expectation)
    for other in others:
        blamed = {notice.kind for notice in other.notices if notice.match_id == bot.match_id} & OF_ONES_OWN
        assert not blamed, "somebody is told of what another did as if it were his"
    assert arena.memory("VmHWM") < level + PEAK


def the_match_is_in_order(arena: Server, match_id: int, faulty: str, expectation: Expected) -> None:
    replay = read(replay_of(arena.address, match_id))
    assert verify(replay).verified
    names = [bot.name for bot in replay.header.bots]
    for seat, name in enumerate(names):
        said = about(seat, replay)
        if name == faulty:
            assert expectation.record <= said <= expectation.record | expectation.perhaps
            assert not expectation.last or replay.result.places[seat] == len(names)
            assert not expectation.last or replay.result.troubled[seat]
        else:
            assert said == set(), f"{name} did nothing wrong"
            assert replay.result.forced[seat] == 0
            assert not replay.result.troubled[seat]
    assert replay.ratings is not None
    for change, counts in zip(replay.ratings, replay.result.counts, strict=True):
        assert (change.after != change.before) == counts


@each(BEFORE_A_MATCH)
def test_a_bot_that_fails_before_its_match_keeps_nobody_from_playing(arena: Server, level: int, kind: str) -> None:
    expectation = BEFORE_A_MATCH[kind]
    reset_peak(arena)
    with Crowd(arena.address) as crowd:
        others = [citizen(crowd, f"{kind}-ann", "sixth_sense"), crowd.come(f"{kind}-bob", games=("sixth_sense",))]
        if kind == "dies-ready":
            others[1].accepts = False
        with faulty(crowd, kind, "sixth_sense") as bot:
            told = bot.ended()
        until(lambda: not is_connected(arena.address, kind), f"the end of {kind}")
        others[1].accepts = True
        others[1].play_in_background()
        others.append(citizen(crowd, f"{kind}-cid", "sixth_sense"))
        until(lambda: all(other.reports for other in others), "the match of the others")
    assert bot.match_id == 0
    assert told.get("end") == (expectation.end or None), told
    assert expectation.text in told.get("text", "")
    [match] = {other.reports[0].match_id for other in others}
    the_match_is_in_order(arena, match, "", expected())
    assert not [entry for entry in listed(arena.address) if kind in [seat.bot for seat in entry.seats]]
    assert arena.memory("VmHWM") < level + PEAK


def test_after_all_that_the_server_is_as_it_was(arena: Server, level: int) -> None:
    with Crowd(arena.address) as crowd:
        three = [citizen(crowd, f"last-{number}", "sixth_sense") for number in range(3)]
        until(lambda: all(each.reports for each in three), "a last match")
    assert arena.memory() < level + GROWTH
    assert arena.process.poll() is None
    assert arena.log == ""
    found = audit(arena.data)
    assert found.finished
    assert not found.interrupted
