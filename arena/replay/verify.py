"""Is a replay true? Its seed must open the commitment, and playing its inputs again must give every line as it stands.

It believes nothing in the file but the inputs and, the ladder being no part of a match, the ratings before it. The
views that were shown are checked by the digests of `arena.replay.shown`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from arena.replay.chain import Chain, unchained
from arena.replay.record import record
from arena.replay.replay import Rating, RatingChange, Replay, Result
from engine.deal import opens

Rate: TypeAlias = Callable[[Sequence[Rating], Sequence[int], Sequence[str], Sequence[bool]], Sequence[Rating]]
"""Ratings after a match from those before it, the places, the bots' names and for whom it counts, all by seat."""


class Difference(NamedTuple):
    """The first line that is not as re-playing gives it."""

    line: int
    """From 1."""
    expected: str | None
    """The line as it should be; None where the file should have ended."""
    found: str
    """The line as it is."""
    words: str
    """What differs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of verifying a replay."""

    source: str
    difference: Difference | None
    """None: the file is what was played."""
    lines: int
    inputs: int
    result: Result
    ratings: bool
    """Whether the change of the ratings was computed again and agreed."""

    @property
    def verified(self) -> bool:
        """Whether every line is as re-playing gives it."""
        return self.difference is None


def verify(replay: Replay, rate: Rate | None = None) -> Verdict:
    """Plays a replay again. Without `rate` the ratings after the match are taken from the file."""
    difference = _commitment(replay) or _course(replay, rate)
    rated = replay.ratings is not None and rate is not None and difference is None
    return Verdict(replay.source, difference, len(replay.lines), len(replay.inputs), replay.result, rated)


def _commitment(replay: Replay) -> Difference | None:
    header = replay.header
    if opens(header.seed, header.commitment):
        return None
    return Difference(1, None, replay.lines[0], "the seed does not open the commitment: SHA-256 gives another")


def _course(replay: Replay, rate: Rate | None) -> Difference | None:
    match = replay.header.new_match()
    entries = ((event, match.receive(event)) for event in replay.inputs)
    recorder = record(replay.header, entries, replay.version)
    ratings, problem = replay.ratings, None
    try:
        ratings = _rated(replay, rate)
    except (ValueError, ArithmeticError) as error:
        words = f"the ratings cannot be computed: {error}"
        problem = Difference(len(replay.lines), None, replay.lines[-1], words)
    lines = map(Chain().line, recorder.lines(ratings))
    for number, found in enumerate(replay.lines, 1):
        expected = next(lines, None)
        if expected != found:
            return Difference(number, expected, found, _words(expected, found))
    return problem  # the last line, the result's or the ratings', is as it should be: re-playing has ended there too


def _rated(replay: Replay, rate: Rate | None) -> tuple[RatingChange, ...] | None:
    """The ratings as they should be; the places are those of the file, whose result line is compared too."""
    if replay.ratings is None or rate is None:
        return replay.ratings
    before = [change.before for change in replay.ratings]
    after = rate(before, replay.result.places, [bot.name for bot in replay.header.bots], replay.result.counts)
    return tuple(RatingChange(*pair) for pair in zip(before, after, strict=True))


def _words(expected: str | None, found: str) -> str:
    if expected is None:
        return f"the file goes on with {_told(found)} where re-playing has ended"
    should, stands = _object(expected), _object(found)
    if _kind(should) != _kind(stands):
        return f"the file has {_told(found)} where re-playing gives {_told(expected)}"
    if should == stands:
        return f"{_kind(should)}: the same is written differently"
    field, wanted, given = _first_difference(should, stands, "")
    if field.startswith("views["):
        return f"seat {field[6:-1]} was not shown in round {stands['shown'] + 1} the views that re-playing gives"
    return f'{_kind(should)}: the file has {_value(given)} in "{field}" where re-playing gives {_value(wanted)}'


def _first_difference(should: Any, stands: Any, path: str) -> tuple[str, Any, Any]:
    """The path to the first value that differs, as far down as the two are built alike, and the two values."""
    if isinstance(should, dict) and isinstance(stands, dict) and should.keys() == stands.keys():
        parts = [(f"{path}.{name}" if path else name, should[name], stands[name]) for name in should]
    elif isinstance(should, list) and isinstance(stands, list) and len(should) == len(stands):
        parts = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(should, stands, strict=True))]
    else:
        return path, should, stands
    return next(_first_difference(one, other, where) for where, one, other in parts if one != other)


def _object(line: str) -> dict[str, Any]:
    text = unchained(line)
    assert text is not None, "the reader has checked the chain"
    content: dict[str, Any] = json.loads(text)
    return content


def _kind(line: dict[str, Any]) -> str:
    """What a line is about: the value of its first field, or the field itself."""
    name, value = next(iter(line.items()))
    return f"{name} {value}" if name in {"in", "out"} else name


def _told(line: str) -> str:
    content = _object(line)
    details = [f"{name} {_value(value)}" for name, value in list(content.items())[1:]]
    return f'"{_kind(content)}" ({", ".join(details)})'


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
