"""A replay that was read: everything its file says."""

from __future__ import annotations

from dataclasses import dataclass

from arena.match.inputs import Input
from arena.replay.header import Header


class ReplayError(ValueError):
    """A file that is no replay, or a damaged one; the message names the file, the line and what is wrong with it."""

    def __init__(self, source: str, line: int | None, problem: str) -> None:
        super().__init__(f"{source}, line {line}: {problem}" if line else f"{source}: {problem}")
        self.source = source
        self.line = line
        """From 1; None where the whole file is meant."""
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Rating:
    """A strength in Elo and the standard deviation of its error."""

    value: float
    deviation: float


@dataclass(frozen=True, slots=True)
class RatingChange:
    """What the match did to one bot's rating, as the file has it."""

    before: Rating
    after: Rating


@dataclass(frozen=True, slots=True)
class Result:
    """The result as the file has it; by seat. Without one scores and places are empty and `interrupted` says why."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    forced: tuple[int, ...]
    """Decisions the server made."""
    troubled: tuple[bool, ...]
    """Whether the bot was ever suspended or played on for by a house bot."""
    counts: tuple[bool, ...]
    """Whether the result counts for the bot."""
    interrupted: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay file that was read."""

    source: str
    """The file's name, for messages."""
    version: int
    """Of the format."""
    header: Header
    inputs: tuple[Input, ...]
    result: Result
    ratings: tuple[RatingChange, ...] | None
    """By seat; None for a match that was not rated."""
    lines: tuple[str, ...]
    """As they stand in the file, without the newlines."""
