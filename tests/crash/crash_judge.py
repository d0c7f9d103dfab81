"""The judge of a trial. To the bots, every match must look the same as without a disturbance.

The judge plays each match again with the same seed and nonces. The bots must have received the same questions, made the
same choices and seen the same end, although their server died repeatedly.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from arena_client.v1 import play_pb2

from arena.api.codec import encode
from arena.house import named_bots
from arena.match.effects import Ask, Back, Hold, Over, Release, Show
from arena.match.inputs import Acted, Begun, Input, Instant, Restored, Sent
from arena.match.match import Match
from arena.replay.header import Header
from arena.replay.read import read_unfinished
from arena.server.sessions.messages import Outgoing, Question
from engine.deal import SeededDecks, match_key
from tests.crash.crash_bot import choice, fingerprint

FAIR = (Ask, Show, Over, Hold, Release, Back)
"""Effects that a match may have if only the server misbehaves. No seat is forced, late or replaced."""


def journal_of(data: Path) -> dict[int, list[str]]:
    """Return the journal's complete rows by match."""
    found: dict[int, list[str]] = {}
    for path in sorted((data / "journal").glob("*.log")):
        with path.open("rb") as file:
            while head := file.readline():
                crc, _, size = head.strip().partition(b" ")
                if not size.isdigit():
                    break
                body = file.read(int(size) + 1)
                if len(body) <= int(size) or f"{zlib.crc32(body[:-1]):08x}".encode() != crc:
                    break
                for line in body[:-1].decode().split("\n"):
                    match, _, text = line.partition(" ")
                    if text.startswith('{"arena_replay"'):
                        found[int(match)] = []
                    found.setdefault(int(match), []).append(text)
    return found


class Move(NamedTuple):
    """A question and its answer."""

    bot: str
    question: str
    """Digest of the question."""
    action: int


@dataclass
class Course:
    """The course of a match, as recorded."""

    moves: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By decision, the bot that made it and its choice."""
    over: Over | None = None
    restored: int = 0
    """Number of server deaths that the match survived."""
    least_bank: int = 1 << 62
    """Smallest remaining time bank of any seat, in microseconds."""


@dataclass
class Calm:
    """The same match without disturbance."""

    moves: dict[int, Move] = field(default_factory=dict)
    """Moves by decision."""
    over: Over | None = None


def _match(header: Header) -> Match:
    decks = SeededDecks(match_key(header.seed, header.nonces))
    return Match(header.game, len(header.bots), header.options, decks, header.policy)


def question(ask: Ask) -> tuple[bytes, str]:
    """Return the bytes of a question's view, as sent to the bot, and their digest."""
    (decision,) = play_pb2.PlayResponse.FromString(encode(Outgoing(questions=[Question(0, ask)]))).decisions
    view = getattr(decision, decision.WhichOneof("view") or "").SerializeToString(deterministic=True)
    return view, fingerprint(view, list(ask.legal))


class Witness:
    """A follower of one match through the journals of its servers."""

    def __init__(self, header: str) -> None:
        self.asked: dict[int, Ask] = {}
        """By decision, every question that follows from the recorded inputs."""
        self._lines = [header]
        self._match = _match(read_unfinished(self._lines, "journal")[0])
        self._read(Begun(Instant(0)))  # begin the match here if its first server died before beginning it

    def follow(self, lines: Sequence[str]) -> None:
        """Read the match's rows in a journal. They include all its rows in earlier journals."""
        known = len(self._lines)
        assert lines[:known] == self._lines, f"the journal has lost something of {lines[0][:100]}"
        for event in read_unfinished([lines[0], *lines[known:]], "journal")[1]:
            self._read(event)
        self._lines += lines[known:]

    def _read(self, event: Input) -> None:
        asks = [effect for effect in self._match.receive(event) if isinstance(effect, Ask)]
        self.asked |= {ask.decision: ask for ask in asks}


def course_of(header: Header, inputs: Sequence[Input]) -> Course:
    """Return the course of a match from its record."""
    match, course = _match(header), Course()
    for event in inputs:
        effects = match.receive(event)
        for effect in effects:
            assert isinstance(effect, FAIR), f"match {header.match_id}: {effect} because of {event}"
            if isinstance(effect, Ask):
                course.least_bank = min(course.least_bank, effect.bank)
            elif isinstance(effect, Over):
                course.over = effect
        if isinstance(event, Restored):
            course.restored += 1
        elif isinstance(event, Acted):
            course.moves[event.decision] = header.bots[event.seat].name, event.action
    return course


def undisturbed(header: Header, seeds: Mapping[str, str]) -> Calm:
    """Play the same match to its end, without a server."""
    match, calm = _match(header), Calm()
    house = {bot.name: bot for bot in named_bots(header.game.name)}
    chance = match_key(header.seed, header.nonces)
    todo: deque[Input] = deque((Begun(Instant(0)),))
    while todo:
        for effect in match.receive(todo.popleft()):
            if isinstance(effect, Over):
                calm.over = effect
            elif isinstance(effect, Ask):
                bot = header.bots[effect.seat]
                view, mark = question(effect)
                if bot.house:
                    drawn = sha256(chance + effect.decision.to_bytes(4)).digest()
                    action = house[bot.name].decide(effect.view, effect.legal, drawn)
                else:
                    action = choice(seeds[bot.name], view, effect.legal)
                calm.moves[effect.decision] = Move(bot.name, mark, action)
                at = Instant(match.now + 1)
                todo += (Sent(at, effect.seat, effect.decision, 0), Acted(at, effect.seat, effect.decision, action))
    return calm
