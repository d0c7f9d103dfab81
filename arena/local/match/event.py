"""Events on this machine: a race or all-play-all of many bots, and the file from which anybody can recompute it.

The first line of the file is the event. The tables follow, one a line, in the order in which they finished. The last
line is the result, with the digests of all lines before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from arena.local.errors import EventFileDiffersError
from arena.local.match.design import Design, PlannedGame
from arena.local.match.replays import replayed_scores, write_replays
from arena.local.match.runner import play_sets
from arena.local.match.sets import FORMAT, PlayedSet, SetsFile, Subject, read_set
from arena.local.match.thinking import SlowBot
from arena.local.server.command_bot import CommandPlace
from arena.scheduling.event.course import race_document
from arena.scheduling.event.race import EventEntrant, EventResult, EventTable, Race, RaceLook
from arena.scheduling.event.scores import HOUSE

RACE: Final = "race"
ALL: Final = "all"
FORMATS: Final = (RACE, ALL)


@dataclass(frozen=True, slots=True)
class EventSubject(Subject):
    """An event. Its entrants are the compared bots in alphabetical order. Each set is one table."""

    event: str = RACE
    """One of `FORMATS`."""
    budget: int = 1
    """Maximum number of matches."""
    tables: tuple[tuple[int, ...], ...] = ()
    """The bots by seat for the tables drawn so far."""

    def planned(self, number: int) -> tuple[PlannedGame, ...]:
        """Return the only game of a table."""
        seed = sha256(f"arena event {self.seed} table {number}".encode()).digest()
        return (PlannedGame(seed, self.tables[number]),)

    def head(self) -> dict[str, Any]:
        """Return the event as JSON, for the first line of its file."""
        return {
            "event": self.event,
            "budget": self.budget,
            "game": self.game,
            "options": dict(self.options),
            "seats": self.seats,
            "seed": self.seed,
            "entrants": self.compared,
            "bots": list(self.bots),
            "versions": list(self.versions),
        }

    @property
    def event_seed(self) -> bytes:
        """The seed of the event's random draws."""
        return sha256(f"arena event {self.seed}".encode()).digest()

    def race(self) -> Race:
        """Return the event before its first round. Raises EventError."""
        entrants = [EventEntrant(name, name) for name in self.bots[: self.compared]]
        return Race(self.event_seed, entrants, self.seats, self.budget, everyone=self.event == ALL)

    def seated(self, table: EventTable) -> tuple[int, ...]:
        """Return the bots of a table by seat, with house bots for free seats."""
        house = iter(range(self.compared, len(self.bots)))
        return tuple(next(house) if bot == HOUSE else bot for bot in table.bots)


def event_subject(subject: Subject, event: str, budget: int) -> EventSubject:
    """Return an event of the compared bots. If they are too few for a table, the subject's field completes it."""
    entrants = sorted(
        zip(subject.bots[: subject.compared], subject.versions, strict=False), key=lambda each: each[0].encode()
    )
    house = [*zip(subject.bots, subject.versions, strict=True)][subject.compared :]
    rows = entrants + house[: max(0, subject.seats - subject.compared)]
    bots, known = zip(*rows, strict=True)
    own = asdict(subject) | {"bots": bots, "versions": known}
    return EventSubject(**own, event=event, budget=budget)


class LocalEvent:
    """An event that is played on this machine."""

    def __init__(self, subject: EventSubject) -> None:
        """Raises EventError: two bots have one name."""
        self.subject = subject
        self.race = subject.race()
        self._recorded = 0

    def play(
        self,
        file: SetsFile,
        workers: int,
        place: CommandPlace,
        replays: Path | None,
        report_slow: Callable[[SlowBot], None],
        report_look: Callable[[RaceLook], None],
    ) -> None:
        """Play the event to its end, skipping the tables that are already in the file. Write the result into the file.

        Raises:
            LocalMatchError: as in `play_sets`.
            OSError: a file cannot be written.
        """
        while not self.race.over:
            self._draw()
            missing = [number for number in range(len(self.race.tables)) if number not in file.found]
            if missing:
                with closing(play_sets(self.subject, missing, workers, None, place, report_slow)) as played:
                    for each in played:
                        file.add(each)
            if replays is not None:
                for number in range(self._recorded, len(self.race.tables)):
                    write_replays(self.subject, file.found[number], replays)
            report_look(self._look(file.found))
        if file.path is not None and not file.result:
            lines = file.path.read_bytes().splitlines()
            file.finish(_last_line(self, lines))

    def replay(self, found: dict[int, PlayedSet]) -> None:
        """Compute the event from its played tables. Raises EventFileDiffersError."""
        while not self.race.over:
            self._draw()
            for number in range(self._recorded, len(self.race.tables)):
                if (played := found.get(number)) is None:
                    raise EventFileDiffersError(f"table {number} is missing")
                [game] = played.games
                if game.bots != self.subject.tables[number]:
                    own, other = self.subject.tables[number], game.bots
                    raise EventFileDiffersError(f"table {number} seats {_words(other)}; by lot it is {_words(own)}")
                scores = replayed_scores(self.subject, played)
                if scores != game.played.scores:
                    theirs = _words(game.played.scores)
                    raise EventFileDiffersError(
                        f"table {number} ends with {theirs} points; its choices give {_words(scores or ())}"
                    )
            self._look(found)
        if extra := sorted({*found} - {*range(len(self.race.tables))}):
            raise EventFileDiffersError(f"table {extra[0]} is not part of the event")

    def document(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return race_document(self.race)

    def _draw(self) -> None:
        """Draw all tables up to the next look."""
        while not self.race.look_due:
            self.race.start_round()
        self.subject = replace(self.subject, tables=tuple(map(self.subject.seated, self.race.tables)))

    def _look(self, found: dict[int, PlayedSet]) -> RaceLook:
        for number in range(self._recorded, len(self.race.tables)):
            scores = found[number].games[0].played.scores
            self.race.record(number, EventResult(tuple(map(float, scores))))
        self._recorded = len(self.race.tables)
        return self.race.look()


def verified(path: Path) -> LocalEvent:
    """Recompute an event from its file, and compare everything with the file.

    Raises:
        EventFileDiffersError: the file differs from the event; the message names the first difference.
        OSError: the file cannot be read.
    """
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        raise EventFileDiffersError("the last line is not complete: the event goes on with the command that wrote it")
    lines = content[:-1].split(b"\n")
    digests = _digests(lines)
    if sha256(lines[0]).hexdigest() != digests["event"]:
        raise EventFileDiffersError("line 1, the event, differs from its digest")
    try:
        subject = _subject(json.loads(lines[0]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EventFileDiffersError(f"line 1 is no event ({error!r})") from error
    found: dict[int, PlayedSet] = {}
    for at, line in enumerate(lines[1:-1], start=2):
        try:
            played = read_set(json.loads(line))
            digest = digests["tables"][played.number]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise EventFileDiffersError(f"line {at} is no table of the event ({error!r})") from error
        if sha256(line).hexdigest() != digest:
            raise EventFileDiffersError(f"line {at}, table {played.number}, differs from its digest")
        if played.number in found:
            raise EventFileDiffersError(f"line {at}: table {played.number} is there twice")
        found[played.number] = played
    try:
        event = LocalEvent(subject)
    except ValueError as error:
        raise EventFileDiffersError(f"line 1: {error}") from error
    event.replay(found)
    expected = json.loads(_last_line(event, lines[:-1]))
    there = json.loads(lines[-1])
    for part in ("result", "digests"):
        if there.get(part) != expected[part]:
            raise EventFileDiffersError(f"the {part} differs: {_first_difference(expected[part], there.get(part))}")
    if lines[-1] != _last_line(event, lines[:-1]).encode():
        raise EventFileDiffersError("the last line, the result, is spelt differently")
    return event


def _last_line(event: LocalEvent, lines: list[bytes]) -> str:
    """Return the line with the result. `lines` are all lines before it."""
    by_number = {json.loads(line)["set"]: sha256(line).hexdigest() for line in lines[1:]}
    digests = {"event": sha256(lines[0]).hexdigest(), "tables": [by_number[number] for number in sorted(by_number)]}
    return json.dumps({"result": event.document(), "digests": digests}, sort_keys=True)


def _digests(lines: list[bytes]) -> dict[str, Any]:
    try:
        last = json.loads(lines[-1])
        digests = last["digests"]
        if isinstance(digests["event"], str) and isinstance(digests["tables"], list):
            found: dict[str, Any] = digests
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise EventFileDiffersError("the last line is no result: the event is not over, or the line is damaged")


def _subject(head: dict[str, Any]) -> EventSubject:
    """Return the event that a file's first line describes. Raises ValueError, KeyError, TypeError."""
    subject = EventSubject(
        game=head["game"],
        options=head["options"],
        seats=head["seats"],
        design=Design.INDEPENDENT,
        seed=head["seed"],
        bots=tuple(head["bots"]),
        versions=tuple(head["versions"]),
        compared=head["entrants"],
        event=head["event"],
        budget=head["budget"],
    )
    if subject.event not in FORMATS or {"format": FORMAT, **subject.head()} != head:
        raise ValueError("its values do not fit together")
    return subject


def _words(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _first_difference(expected: Any, there: Any, path: str = "") -> str:
    """Describe the first difference between two JSON values."""
    if isinstance(expected, dict) and isinstance(there, dict) and expected.keys() == there.keys():
        pairs = [(f"{path}.{key}" if path else key, expected[key], there[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(there, list) and len(expected) == len(there):
        pairs = [(f"{path}[{at}]", one, other) for at, (one, other) in enumerate(zip(expected, there, strict=True))]
    else:
        return f"{path or 'it'} is {json.dumps(there)[:80]} there, {json.dumps(expected)[:80]} computed again"
    return next(_first_difference(one, other, name) for name, one, other in pairs if one != other)
