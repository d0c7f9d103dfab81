"""The played sets of a comparison with their scores, and the file from which a match can be continued.

The first line is the subject. Each line after it is one set, in the order in which the sets were finished. A truncated
last line is ignored, and its set is played again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from arena.local.errors import SetsFileRefused
from arena.local.match.design import ONE, OTHER, Design, Pairing, PlannedGame, games_of, pairs, planned
from arena.local.play.table import PlayedGame
from engine.points import points_above

FORMAT: Final = 1


def set_score(design: Design, played: PlayedSet) -> float:
    """Return the points of the first bot minus the other's in a set."""
    first, second = played.games
    if design is Design.ONE_TABLE:
        return fmean(points(game, ONE) - points(game, OTHER) for game in played.games)
    return above(first, ONE) - above(second, OTHER)


def set_share(played: PlayedSet) -> float:
    """Return the share of games in which the first of two bots at one table finished ahead. A tie counts half."""
    return fmean(beaten(game, ONE, [game.bots.index(OTHER)]) for game in played.games)


def points(game: SeatedGame, bot: int) -> int:
    """Return the points of a bot in a game."""
    return game.played.scores[game.bots.index(bot)]


def above(game: SeatedGame, bot: int) -> float:
    """Return a bot's points above the mean of the others at the table."""
    return points_above(game.played.scores, game.bots.index(bot))


def beaten(game: SeatedGame, bot: int, against: Sequence[int]) -> float:
    """Return the share of the seats in `against` that a bot finished ahead of. A tie counts half."""
    places = game.played.places
    own = places[game.bots.index(bot)]
    return fmean((own < places[seat]) + (own == places[seat]) / 2 for seat in against)


class SeatedGame(NamedTuple):
    """A game of a set, with its seats."""

    bots: tuple[int, ...]
    """Bots by seat, numbered as in `arena.local.match.design`."""
    played: PlayedGame


class PlayedSet(NamedTuple):
    """A played set."""

    number: int
    games: tuple[SeatedGame, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a comparison: game, design, seed and bots.

    If the bots are deterministic, the subject and a set's number determine the set.
    """

    game: str
    options: Mapping[str, Any]
    seats: int
    design: Design
    seed: int
    bots: tuple[str, ...]
    """Bots as given on the command line: first the compared bots, then the field."""
    versions: tuple[str, ...]
    """The versions of these bots."""
    compared: int = 2
    """Number of compared bots, at least two."""
    pairing: Pairing = Pairing.GAUNTLET

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The compared pairs of bots."""
        return pairs(self.compared, self.pairing)

    def planned(self, number: int) -> tuple[PlannedGame, ...]:
        """Return the games of the set with this number, from 0."""
        return planned(self.design, self.seats, number, self.seed, self.compared, self.pairing)

    def head(self) -> dict[str, Any]:
        """Return the subject as JSON, for the first line of its file."""
        return asdict(self) | {"design": self.design.value, "pairing": self.pairing.value}

    def of_pair(self, pair: tuple[int, int], played: PlayedSet) -> PlayedSet:
        """Return the result of a set for a pair, as if only these two bots were compared."""
        names = {pair[0]: ONE, pair[1]: OTHER}
        games = (played.games[at] for at in games_of(self.design, pair, self.compared, self.pairing))
        return PlayedSet(
            played.number,
            tuple(
                SeatedGame(tuple(names.get(bot, bot - self.compared + 2) for bot in game.bots), game.played)
                for game in games
            ),
        )


def seed_of(path: Path) -> int | None:
    """Return the seed in a file of sets, or None if the file contains none.

    A file with a seed may still be unusable.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        first = file.readline()
    try:
        seed = json.loads(first)["seed"]
    except (ValueError, TypeError, KeyError):
        return None
    return seed if isinstance(seed, int) else None


class SetsFile:
    """A file of played sets. Without a path, the sets exist only in memory."""

    def __init__(self, path: Path | None, subject: Subject) -> None:
        """Read the file, or create it if it does not exist. Raises: SetsFileRefused, OSError."""
        self.found: dict[int, PlayedSet] = {}
        """The sets in the file, by number."""
        self.path = path
        self.result = False
        """True if the file ends with the result of an event."""
        self._descriptor: int | None = None
        if path is None:
            return
        head = json.dumps({"format": FORMAT, **subject.head()}, sort_keys=True)
        if path.exists() and path.stat().st_size:
            whole = self._read(path, json.loads(head))
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.truncate(path, whole)
        else:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            self._write(head)

    def add(self, played: PlayedSet) -> None:
        """Add a finished set.

        Raises: OSError: for example, the disk is full.
        """
        self.found[played.number] = played
        if self._descriptor is not None:
            games = [{"bots": game.bots, **game.played._asdict()} for game in played.games]
            self._write(json.dumps({"set": played.number, "games": games}))

    def finish(self, line: str) -> None:
        """Add the result of an event, as JSON. Raises OSError."""
        self._write(line)
        self.result = True

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, line: str) -> None:
        assert self._descriptor is not None, "there is a file"
        left = line.encode() + b"\n"
        while left:
            left = left[os.write(self._descriptor, left) :]

    def _read(self, path: Path, head: dict[str, Any]) -> int:
        """Read the sets, and return the total size of the complete lines in bytes."""
        content = path.read_bytes()
        lines = content.split(b"\n")[:-1]
        try:
            there = json.loads(lines[0]) if lines else None
        except ValueError:
            there = None
        if not isinstance(there, dict) or "format" not in there:
            raise SetsFileRefused(path, "holds no sets of a match: choose another file")
        if there != head:
            wrong = [name for name in sorted({*there, *head}) if there.get(name) != head.get(name)]
            differ = "; ".join(
                f"{name} {json.dumps(there.get(name))} there, {json.dumps(head.get(name))} here" for name in wrong
            )
            raise SetsFileRefused(path, f"holds sets of another match ({differ}): choose another file")
        for number, line in enumerate(lines[1:], start=2):
            try:
                document = json.loads(line)
                if "result" in document:
                    self.result = True
                    continue
                played = read_set(document)
                self.found[played.number] = played
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise SetsFileRefused(path, f"is damaged: line {number} is no set ({error})") from error
        return sum(len(line) + 1 for line in lines)


def read_set(document: dict[str, Any]) -> PlayedSet:
    """Return the set that a line of the file describes. Raises KeyError, TypeError, AttributeError: it is no set."""
    games = tuple(
        SeatedGame(tuple(game.pop("bots")), PlayedGame(**{name: _immutable(value) for name, value in game.items()}))
        for game in document["games"]
    )
    return PlayedSet(document["set"], games)


def _immutable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
