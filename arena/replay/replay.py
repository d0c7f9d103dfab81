"""The contents of a replay file as values."""

from __future__ import annotations

from dataclasses import dataclass

from arena.match.inputs import Input
from arena.replay.header import Header


class ReplayError(ValueError):
    """A file that is no replay, or is damaged. The message names the file, the line and the problem."""

    def __init__(self, source: str, line: int | None, problem: str) -> None:
        super().__init__(f"{source}, line {line}: {problem}" if line else f"{source}: {problem}")
        self.source = source
        self.line = line
        """Number of the line, from 1, or None if the problem concerns the whole file."""
        self.problem = problem


@dataclass(frozen=True, slots=True)
class RecordedRating:
    """A rating in Elo and its standard deviation."""

    value: float
    deviation: float


@dataclass(frozen=True, slots=True)
class RecordedRatingChange:
    """One bot's ratings before and after the match, as recorded."""

    before: RecordedRating
    after: RecordedRating
    beyond_quota: tuple[int, ...] = ()
    """Other seats for which the result against this seat changes neither rating."""


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """The recorded result, by seat.

    Without a result, scores and places are empty and `interrupted` gives the reason.
    """

    scores: tuple[int, ...]
    places: tuple[int, ...]
    forced: tuple[int, ...]
    """Number of decisions that the server made."""
    troubled: tuple[bool, ...]
    """True if the bot was ever suspended or replaced by a house bot."""
    counts: tuple[bool, ...]
    """True if the result counts for the bot."""
    interrupted: str
    """The reason why the match was interrupted; empty if it has a result."""
    spoilt: tuple[bool, ...] = ()
    """By seat, True if house bots played it in too many rounds. It then does not change its opponents' ratings. Empty
    under rating rule 1.
    """


@dataclass(frozen=True, slots=True)
class Replay:
    """The contents of a replay file."""

    source: str
    """Name of the file, for messages."""
    version: int
    """Version of the format."""
    header: Header
    inputs: tuple[Input, ...]
    result: RecordedResult
    ratings: tuple[RecordedRatingChange, ...] | None
    """Rating changes by seat, or None for a match that was not rated."""
    lines: tuple[str, ...]
    """All lines of the file, without the newlines."""
