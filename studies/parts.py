"""Cost of a decision by part, without sockets: rules, view, match, encoding, journal, end of the match, SDK bot.

    python -m studies.parts [--compiled] [--json]

Each part is run alone over the decisions of two-seat games of 6th Sense, played at random. Shown is processor time a
decision, the best of several rounds, with one decision a message and with 16. `bench.play` measures more than their
sum: transport, scheduling, and the effects of sharing a core.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from time import monotonic, process_time
from typing import Any, Final, NamedTuple, TypeVar, cast

import click
from arena_client import Bot, Decision
from arena_client.caller import Caller
from arena_client.session import Progress, Session
from arena_client.v1.play_pb2 import PlayResponse
from rich.console import Console
from rich.table import Table

from arena.api import codec
from arena.match.effects import Ask
from arena.match.inputs import Acted, Begun, Input, Instant, Sent
from arena.match.policy import Policy
from arena.replay.hash_chain import PackedReplay
from arena.replay.header import Entry, Header
from arena.replay.header import SeatedBot as Name
from arena.replay.lines import input_line
from arena.replay.record import Recorder
from arena.server.sessions.messages import Outgoing, Question, Welcome
from arena.store import bots, matches, schema
from arena.store.journal import Journal, open_journal
from arena.store.sqlite.engine import in_memory
from arena.transport.settings import TransportSettings
from arena.v1 import play_pb2
from bench._compiled import environment, option
from engine.game import settle_options
from engine.registry import GAMES

T = TypeVar("T")

GAME: Final = GAMES["sixth_sense"]
SEATS: Final = 2
MATCHES: Final = 4
ROUNDS: Final = 7
BATCH: Final = 16
POLICY: Final = Policy()
OPTIONS: Final = settle_options(GAME, SEATS, {})


class Course(NamedTuple):
    """A recorded match."""

    number: int
    entries: Sequence[Entry]
    asks: Sequence[Ask]
    choices: Sequence[tuple[int, int]]
    """Seat and action of every choice."""
    header: Header
    lines: Sequence[str]
    """Lines of the inputs, as in the journal."""


def play(number: int) -> Course:
    """Play a match between two bots that choose at random."""
    header = Header(
        match_id=number,
        game=GAME,
        options=OPTIONS,
        bots=tuple(Name(f"bot-{seat}", house=False) for seat in range(SEATS)),
        seed=bytes([number]) * 32,
        commitment=bytes(32),
        nonces=(bytes(16),) * SEATS,
        stand_in="house-random 1",
        policy=POLICY,
        started=0,
        server="bench",
    )
    entries: list[Entry] = []
    asks: list[Ask] = []
    choices: list[tuple[int, int]] = []
    lines: list[str] = []
    course = Course(number, entries, asks, choices, header, lines)
    match, chance, at = course.header.new_match(), Random(number), 0

    def happen(event: Input) -> list[Ask]:
        effects = match.receive(event)
        entries.append((event, effects))
        lines.append(input_line(event, GAME))
        return [effect for effect in effects if isinstance(effect, Ask)]

    todo = happen(Begun(Instant(0)))
    while todo:
        ask = todo.pop(0)
        action = chance.choice(ask.legal)
        asks.append(ask)
        choices.append((ask.seat, action))
        at += chance.randrange(1000)
        happen(Sent(Instant(at), ask.seat, ask.decision, chance.randrange(500)))
        at += chance.randrange(1000)
        todo += happen(Acted(Instant(at), ask.seat, ask.decision, action))
    return course


def measure() -> dict[str, tuple[float, float]]:
    """Measure microseconds a decision by part, with one and with `BATCH` decisions a message."""
    courses = [play(number) for number in range(1, MATCHES + 1)]
    asks = [Question(course.number, ask) for course in courses for ask in course.asks]
    chunks = [[asks[i : i + size] for i in range(0, len(asks), size)] for size in (1, BATCH)]
    shown = [[codec.encode(Outgoing(questions=chunk)) for chunk in each] for each in chunks]
    said = [[_answers(chunk).SerializeToString() for chunk in each] for each in chunks]
    # The server's message instead of the SDK's, which differs in the name of its package only.
    welcome = Welcome("bench", (GAME,), POLICY, 5.0, 3, BATCH, 10.0, TransportSettings())
    first = First()
    session = Session(first, cast("Any", codec._welcome(welcome)), Progress(), lambda _: None)
    bot = session, Caller(first)

    def time(part: Callable[[T], object], subjects: Sequence[T]) -> float:
        return _time(lambda: deque(map(part, subjects), maxlen=0)) / len(asks)

    def pair(part: Callable[[T], object], subjects: Sequence[Sequence[T]]) -> tuple[float, float]:
        return time(part, subjects[0]), time(part, subjects[1])

    rules = time(partial(_rules, views=False), courses)
    view = time(partial(_rules, views=True), courses) - rules
    match = time(_match, courses) - rules - view
    record = time(_record, courses)
    replay = time(Recorder.replay, [_record(course) for course in courses])
    with tempfile.TemporaryDirectory() as data:
        journal, _ = open_journal(Path(data), ())
        for course in courses:
            journal.begin(course.header)
        written = time(partial(_journal, journal, 1), courses), time(partial(_journal, journal, BATCH), courses)
        journal.close()
    database = _database(courses) / len(asks)
    return {
        "rules": (rules, rules),
        "view": (view, view),
        "match: clocks, presence, effects": (match, match),
        "encode": pair(lambda chunk: codec.encode(Outgoing(questions=chunk)), chunks),
        "decode": pair(partial(codec.decode, at=0.0), said),
        "journal": written,
        "record": (record, record),
        "finish: replay": (replay, replay),
        "begin and finish: database, without the disk": (database, database),
        "a bot of the SDK": pair(partial(_reaction, bot), shown),
    }


def _time(part: Callable[[], object]) -> float:
    """Measure microseconds of processor time, the least of several rounds."""
    best = inf
    for _ in range(ROUNDS):
        began = process_time()
        part()
        best = min(best, process_time() - began)
    return 1e6 * best


def _rules(course: Course, *, views: bool) -> None:
    state = course.header.new_game()
    for seat, action in course.choices:
        state.legal(seat)
        if views:
            state.view(seat)
        state.apply(action, seat)


def _match(course: Course) -> None:
    match = course.header.new_match()
    for event, _ in course.entries:
        match.receive(event)


def _record(course: Course) -> Recorder:
    recorder = Recorder(course.header)
    for (event, effects), line in zip(course.entries, course.lines, strict=True):
        recorder.add(event, effects, line)
    return recorder


def _answers(questions: Sequence[Question]) -> play_pb2.PlayRequest:
    answers = [
        play_pb2.Answer(match_id=each.match_id, decision_id=each.ask.decision, action=each.ask.legal[0])
        for each in questions
    ]
    return play_pb2.PlayRequest(answers=answers)


def _journal(journal: Journal, batch: int, course: Course) -> None:
    for number, (event, _) in enumerate(course.entries):
        journal.add(course.header, event)
        if number % (2 * batch) == 0:  # each decision has two inputs
            journal.commit()


def _database(courses: Sequence[Course]) -> float:
    engine = in_memory(schema.metadata)
    result: dict[str, Any] = {"scores": (1, 0), "places": (1, 2), "forced": (0, 0), "counts": (True, True)}
    with engine.connect() as connection:
        names = [bots.register(connection, f"bot-{seat}", "", 0).bot.id for seat in range(SEATS)]
        connection.commit()

        def part() -> None:
            for _ in courses:
                number = matches.begin(connection, GAME.name, OPTIONS, names, 0)
                connection.commit()
                matches.finish(connection, number, **result, at=1, replay=lambda _: PackedReplay(b"", None))
                connection.commit()

        took = _time(part)
    engine.dispose()
    return took


class First(Bot):
    """Bot that takes the first legal action."""

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """Choose the first legal action of each decision."""
        return [decision.legal[0] for decision in decisions]


def _reaction(bot: tuple[Session, Caller], message: bytes) -> None:
    session, caller = bot
    response = PlayResponse.FromString(message)
    session.receive(response)
    for request in caller.react(response, session.games, monotonic()):
        request.SerializeToString()


@click.command()
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(compiled: bool, as_json: bool) -> None:
    """Measure the parts of a decision."""
    if compiled:
        command = [sys.executable, "-m", "studies.parts", *(["--json"] if as_json else [])]
        sys.exit(subprocess.run(command, check=False, env=environment()).returncode)
    parts = measure()
    if as_json:
        click.echo(json.dumps(parts, indent=2))
        return
    table = Table(title="Processor time of a decision by part, in microseconds")
    for heading in ("", "1 a message", f"{BATCH} a message"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, (alone, together) in parts.items():
        table.add_row(name, f"{alone:.1f}", f"{together:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
