"""The course of an event on a server: its race, the bots present for each round, and the bots that were replaced.

All of it follows from the terms, the rolls and the matches. So a server continues an event from what it stored, and
anybody can recompute it. The rules of absence are in docs/events.md.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any, Final, NamedTuple

from arena.scheduling.event.race import WHOLE, EventEntrant, EventResult, EventTable, Race
from arena.scheduling.event.scores import HOUSE, FrozenAdjustment, no_adjustment

GONE: Final = 2
"""A bot that misses this number of rounds in a row is out."""
MILLIONTHS: Final = 1_000_000


class Contestant(NamedTuple):
    """A bot that checked in."""

    bot_id: int
    name: str
    nonce: bytes


class EarlierMatches(NamedTuple):
    """Whole numbers from the matches before an event. They determine how its scores are computed."""

    matches: int = 0
    points: tuple[int, ...] = ()
    """Sums of the points in these matches, by seat."""
    house: str = ""
    """The house bots that replay each deal, with versions; empty if scores use no baselines."""
    replayed: int = 0
    """Number of earlier matches with baselines of these bots."""
    baselines: tuple[int, ...] = ()
    """Sums of these baselines, by seat."""
    share: int = 0
    """β of a score, in millionths."""
    table: int = 0
    """δ of a score, in millionths."""

    @classmethod
    def of(cls, document: Mapping[str, Any] | Sequence[int]) -> EarlierMatches:
        """Read these numbers from JSON. The first events had a list: match count, then points. Raises TypeError."""
        if not isinstance(document, Mapping):
            matches, *points = document or (0,)
            return cls(matches, tuple(points))
        values: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in document.items()}
        return cls(**values)

    @property
    def document(self) -> dict[str, Any]:
        """These numbers as JSON."""
        found: dict[str, Any] = json.loads(json.dumps(self._asdict()))  # lists for tuples, as in a leaf
        return found

    def frozen(self, seats: int) -> FrozenAdjustment:
        """Return the constants with which the scores are computed."""
        found = no_adjustment(seats)
        if self.matches:
            found = found._replace(means=tuple(total / self.matches for total in self.points))
        if not self.replayed:
            return found
        usual = tuple(total / self.replayed for total in self.baselines)
        return found._replace(baselines=usual, share=self.share / MILLIONTHS, table=self.table / MILLIONTHS)


class EventTerms(NamedTuple):
    """Everything that is fixed when an event starts."""

    seed: bytes
    contestants: tuple[Contestant, ...]
    """One bot of each owner."""
    seats: int
    budget: int | None
    """Maximum number of matches; None for a budget of time."""
    everyone: bool
    """True if all play the same number of matches."""
    earlier: EarlierMatches = EarlierMatches()


class PlayedTable(NamedTuple):
    """The match of a table that counts, by seat."""

    bots: tuple[int, ...]
    """The bots that accepted their seats, and house bots."""
    points: tuple[int, ...]
    counts: tuple[bool, ...]
    """False for bots that vanished."""
    baselines: tuple[int, ...] = ()
    """Summed points of the house bots that replayed the deals, by seat; empty without a replay."""


class EventCourse:
    """An event up to its latest round."""

    def __init__(self, terms: EventTerms) -> None:
        """Raises EventError: there are fewer than two bots."""
        ids = {each.name: each.bot_id for each in terms.contestants}
        entrants = [EventEntrant(each.name, each.name, each.nonce) for each in terms.contestants]
        frozen = terms.earlier.frozen(terms.seats)
        self.race = Race(terms.seed, entrants, terms.seats, terms.budget, frozen, terms.everyone)
        self.rounds = 0
        """Number of rounds that have begun."""
        self._ids = tuple(ids[each.name] for each in self.race.entrants)
        self._numbers = {bot_id: bot for bot, bot_id in enumerate(self._ids)}
        self._present: frozenset[int] = frozenset()
        """Bots of the race that are on the roll of this round."""
        self._missed = [0] * len(self._ids)
        """By bot of the race, the number of rounds in a row without it."""
        self._open: dict[int, EventTable] = {}
        """By number, the tables of this round that have no result yet."""

    @property
    def open_tables(self) -> Sequence[EventTable]:
        """The tables of this round that have no result yet."""
        return tuple(self._open.values())

    @property
    def still_in(self) -> tuple[int, ...]:
        """The server's ids of the bots that are still in."""
        return tuple(self._ids[bot] for bot in self.race.still_in)

    def seated(self, table: EventTable) -> tuple[int | None, ...]:
        """Return the server's ids of a table's bots, by seat; None for a house bot."""
        return tuple(None if bot == HOUSE else self._ids[bot] for bot in table.bots)

    def begin_round(self, present: Collection[int], used: int) -> None:
        """Draw the tables of the next round for the bots on the roll.

        `used`: the used part of a budget of time, in thousandths; 0 for a budget of matches. Raises EventError.
        """
        self._present = frozenset(self._numbers[bot_id] for bot_id in present)
        self._open = {table.number: table for table in self.race.start_round(self._present, used)}
        self.rounds += 1

    def record(self, number: int, played: PlayedTable) -> None:
        """Record the result of an open table. A bot counts as vanished and absent if another player has its seat."""
        table = self._open.pop(number)
        vanished = []
        for bot, bot_id, counts in zip(table.bots, played.bots, played.counts, strict=True):
            replaced = bot != HOUSE and self._ids[bot] != bot_id
            if replaced:
                self._present -= {bot}
            vanished.append(replaced or not counts)
        baselines = tuple(map(float, played.baselines)) or None
        self.race.record(number, EventResult(tuple(map(float, played.points)), baselines, tuple(vanished)))

    def end_round(self, used: int) -> None:
        """Remove the bots that are gone, and take the look if one is due. All tables must have their results."""
        if self.rounds == 0:
            return
        race = self.race
        for bot in race.still_in:
            self._missed[bot] = 0 if bot in self._present else self._missed[bot] + 1
            if self._missed[bot] == GONE:
                race.remove(bot)
        alone = len(race.still_in) < 2
        if not race.over and (race.look_due or used >= WHOLE or alone) and race.unseen(used):
            race.look(used)
        race.over = race.over or alone or used >= WHOLE


def race_document(race: Race) -> dict[str, Any]:
    """Return the result of a race as JSON."""
    looks = [asdict(look) | {"means": [None if mean == -inf else mean for mean in look.means]} for look in race.looks]
    standings = [each._asdict() | {"bot": race.entrants[each.bot].name} for each in race.standings()]
    found: dict[str, Any] = {
        "decided": race.decided,
        "winner": standings[0]["bot"] if race.decided else None,
        "matches": len(race.tables),
        "standings": standings,
        "looks": looks,
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))  # lists for tuples, as in a file
    return plain
