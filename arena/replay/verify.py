"""Verification of a replay: its seed must open the commitment, and playing its inputs again must reproduce every line.

Verification trusts only the inputs and the ratings before the match, because the ladder is not part of the file. The
views that were shown are checked by the digests of `arena.replay.view_digests`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from arena.replay.hash_chain import Chain, without_chain
from arena.replay.header import DEALT_BY_SERVER, OfferOutcome
from arena.replay.record import record
from arena.replay.replay import RecordedRating, RecordedRatingChange, RecordedResult, Replay
from engine.deal import opens

Rate: TypeAlias = Callable[
    [
        Sequence[RecordedRating],
        Sequence[int],
        Sequence[str],
        Sequence[bool],
        Sequence[bool],
        Collection[tuple[int, int]],
    ],
    Sequence[RecordedRating],
]
"""A function that computes the ratings after a match. Its first arguments are, by seat: the ratings before the match,
the places, the bots' names, True if the result counts for the bot, and True if the seat is spoilt (empty if none is).
The last argument contains the pairs of seats beyond a quota, with the lower seat first.
"""


class ReplayDifference(NamedTuple):
    """The first line that differs from the replayed one."""

    line: int
    """Number of the line, from 1."""
    expected: str | None
    """The replayed line, or None if the file should have ended."""
    found: str
    """The line in the file."""
    text: str
    """Description of the difference in words."""


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """Result of the verification of a replay."""

    source: str
    difference: ReplayDifference | None
    """The first difference, or None if the replay is verified."""
    lines: int
    inputs: int
    result: RecordedResult
    ratings: bool
    """True if the rating changes were computed again and agreed."""

    @property
    def verified(self) -> bool:
        """True if every line equals the replayed one."""
        return self.difference is None


def verify(replay: Replay, rate: Rate | None = None) -> ReplayVerdict:
    """Verify a replay by playing it again. Without `rate`, the ratings after the match are not checked."""
    difference = _commitment(replay) or _offers(replay) or _body(replay, rate)
    rated = replay.ratings is not None and rate is not None and difference is None
    return ReplayVerdict(replay.source, difference, len(replay.lines), len(replay.inputs), replay.result, rated)


def _commitment(replay: Replay) -> ReplayDifference | None:
    header = replay.header
    if opens(header.seed, header.commitment):
        return None
    return ReplayDifference(1, None, replay.lines[0], "the seed does not open the commitment: SHA-256 gives another")


def _offers(replay: Replay) -> ReplayDifference | None:
    """Check that bots have the seats that they accepted. Formats before 4 have no offers to check."""
    header = replay.header
    if replay.version < 4 or header.dealt_by != DEALT_BY_SERVER:
        return None
    accepted = sorted((offer.seat, offer.bot) for offer in header.offers if offer.outcome is OfferOutcome.ACCEPTED)
    seated = [(seat, bot.name) for seat, bot in enumerate(header.bots) if not bot.house]
    if accepted == seated:
        return None
    return ReplayDifference(1, None, replay.lines[0], f"the seats accepted are {accepted}, those of bots are {seated}")


def _body(replay: Replay, rate: Rate | None) -> ReplayDifference | None:
    match = replay.header.new_match()
    entries = ((event, match.receive(event)) for event in replay.inputs)
    recorder = record(replay.header, entries, replay.version)
    ratings, problem = replay.ratings, None
    try:
        ratings = _rated(replay, rate)
    except (ValueError, ArithmeticError) as error:
        text = f"the ratings cannot be computed: {error}"
        problem = ReplayDifference(len(replay.lines), None, replay.lines[-1], text)
    lines = map(Chain().line, recorder.lines(ratings))
    for number, found in enumerate(replay.lines, 1):
        expected = next(lines, None)
        if expected != found:
            return ReplayDifference(number, expected, found, _difference_text(expected, found))
    return problem  # `lines` has ended, too, because every record ends with the line of the result or the ratings


def _rated(replay: Replay, rate: Rate | None) -> tuple[RecordedRatingChange, ...] | None:
    """Compute the expected rating changes from the file's places. The result line itself is compared elsewhere."""
    if replay.ratings is None or rate is None:
        return replay.ratings
    before = [change.before for change in replay.ratings]
    result, names = replay.result, [bot.name for bot in replay.header.bots]
    seats = range(len(names))
    pairs = {(min(seat, other), max(seat, other)) for seat in seats for other in replay.ratings[seat].beyond_quota}
    after = rate(before, result.places, names, result.counts, result.spoilt, pairs)
    beyond = [tuple(sorted(sum(pair) - seat for pair in pairs if seat in pair)) for seat in seats]
    return tuple(RecordedRatingChange(*each) for each in zip(before, after, beyond, strict=True))


def _difference_text(expected: str | None, found: str) -> str:
    if expected is None:
        return f"the file goes on with {_line_summary(found)} where re-playing has ended"
    should, stands = _object(expected), _object(found)
    if _line_kind(should) != _line_kind(stands):
        return f"the file has {_line_summary(found)} where re-playing gives {_line_summary(expected)}"
    if should == stands:
        return f"{_line_kind(should)}: the same is written differently"
    field, wanted, given = _first_difference(should, stands, "")
    if field.startswith("views["):
        return f"seat {field[6:-1]} was not shown in round {stands['shown'] + 1} the views that re-playing gives"
    return f'{_line_kind(should)}: the file has {_value(given)} in "{field}" where re-playing gives {_value(wanted)}'


def _first_difference(should: Any, stands: Any, path: str) -> tuple[str, Any, Any]:
    """Find the first value that differs. Return its path, as far as the structures agree, and both values."""
    if isinstance(should, dict) and isinstance(stands, dict) and should.keys() == stands.keys():
        parts = [(f"{path}.{name}" if path else name, should[name], stands[name]) for name in should]
    elif isinstance(should, list) and isinstance(stands, list) and len(should) == len(stands):
        parts = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(should, stands, strict=True))]
    else:
        return path, should, stands
    return next(_first_difference(one, other, where) for where, one, other in parts if one != other)


def _object(line: str) -> dict[str, Any]:
    text = without_chain(line)
    assert text is not None, "the reader has checked the chain"
    content: dict[str, Any] = json.loads(text)
    return content


def _line_kind(line: dict[str, Any]) -> str:
    """Return the kind of a line: the first field's name, with its value for inputs and effects."""
    name, value = next(iter(line.items()))
    return f"{name} {value}" if name in {"in", "out"} else name


def _line_summary(line: str) -> str:
    content = _object(line)
    details = [f"{name} {_value(value)}" for name, value in list(content.items())[1:]]
    return f'"{_line_kind(content)}" ({", ".join(details)})'


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
