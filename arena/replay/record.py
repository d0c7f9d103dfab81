# Compiled: every decision passes through here.
"""Recording of a running match, as the lines of its replay.

Many matches run at once, so a `Recorder` stores lines instead of inputs and effects, and stores questions only until
the end of their round. It never changes its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.match.effects import Ask, Effect, Force, Over, Refuse, Show
from arena.match.inputs import Acted, Input, Sent
from arena.replay.hash_chain import PackedReplay, pack, pack_replay, with_chain
from arena.replay.header import ChangeLike, Entry, Header, MatchKind
from arena.replay.lines import (
    VERSION,
    effect_line,
    header_line,
    input_line,
    ratings_line,
    result_line,
    view_digests_line,
)
from arena.replay.thinking import Stopwatch, Thinking
from arena.replay.view_digests import ViewDigests


class Draft(NamedTuple):
    """The replay of a match without its ratings. The process that computes the ratings adds them."""

    text: str
    """All lines except the ratings line."""
    names: list[str]
    """Names of the bots by seat."""

    def complete(self, ratings: Sequence[ChangeLike]) -> PackedReplay:
        """Add the ratings by seat, if any. Return the packed replay in its stored form, without its chain."""
        return pack_replay([self.text, *([ratings_line(ratings, self.names)] if ratings else [])])


class Recorder:
    """The record of a running match."""

    __slots__ = ("_header", "_lines", "_over", "_shown", "_stopwatch", "_version")

    def __init__(self, header: Header, version: int = VERSION) -> None:
        """Begin the record of a match without inputs. `version` is the version of the replay format."""
        seats, policy = len(header.bots), header.policy
        self._header = header
        self._version = version
        self._lines: list[str] = []
        self._shown = ViewDigests(seats, policy.bank, version)
        self._stopwatch = Stopwatch(seats, policy.lag_allowance)
        self._over: Over | None = None

    def add(self, event: Input, effects: Sequence[Effect], line: str) -> None:
        """Add an input, its effects in order, and the line of the input.

        If this raises an exception, `lines` is unchanged.
        """
        lines = [line]
        refused = False
        for effect in effects:
            if type(effect) is Ask:  # the usual case
                self._shown.add(effect)
                self._stopwatch.due(effect.seat, effect.decision)
                continue
            lines.append(effect_line(effect, self._header.game, self._header.rating_rule))
            if isinstance(effect, Force):
                self._stopwatch.due(effect.seat, effect.decision)
            elif isinstance(effect, Refuse):
                refused = True
            elif isinstance(effect, Over):
                self._over = effect
            if isinstance(effect, Show) or (isinstance(effect, Over) and not effect.places):
                lines.append(view_digests_line(self._shown.close()))
        if type(event) is Sent:
            self._stopwatch.sent(event)
        elif type(event) is Acted and not refused:
            self._stopwatch.made(event)
        self._lines += lines

    def lines(self, ratings: Sequence[ChangeLike] | None = None) -> list[str]:
        """Return the lines of the replay without their chain. `ratings` are by seat, or None for a match that is not
        rated.

        Before the end of the match, the lines of the result and the ratings are missing.
        """
        lines = self._all_but_ratings(rated=ratings is not None)
        if self._over is not None and ratings is not None:
            lines.append(ratings_line(ratings, self._names()))
        return lines

    def draft(self) -> Draft:
        """Return the replay without its ratings. Raises: ValueError: The match is not over."""
        self._require_over()
        return Draft("\n".join(self._all_but_ratings(self._header.kind is MatchKind.RATED)), self._names())

    def replay(self, ratings: Sequence[ChangeLike] | None = None) -> bytes:
        """Return the packed replay in its stored form, without its chain. `ratings` are as for `lines`.

        Raises:
            ValueError: the match is not over.
        """
        self._require_over()
        return pack(self.lines(ratings))

    def _all_but_ratings(self, rated: bool) -> list[str]:
        """Return all lines so far except the ratings line."""
        lines = [header_line(self._header, rated, self._version), *self._lines]
        if self._over is not None:
            lines.append(result_line(self._over, self._names(), self._header.rating_rule))
        return lines

    def _names(self) -> list[str]:
        return [bot.name for bot in self._header.bots]

    def _require_over(self) -> None:
        if self._over is None:
            raise ValueError(f"match {self._header.match_id} is not over")

    def thinking(self) -> tuple[Thinking, ...]:
        """Return the bots' thinking times by seat."""
        return self._stopwatch.thinking()

    def due_so_far(self) -> list[int]:
        """Return the number of decisions so far, by seat."""
        return self._stopwatch.due_so_far()


def record(header: Header, entries: Iterable[Entry], version: int = VERSION) -> Recorder:
    """Record a match from all its entries."""
    recorder = Recorder(header, version)
    for event, effects in entries:
        recorder.add(event, effects, input_line(event, header.game, version))
    return recorder


def encode(header: Header, entries: Iterable[Entry], ratings: Sequence[ChangeLike] | None = None) -> bytes:
    """Encode the replay file of a match that is over. `ratings` are by seat, or None for a match that was not rated.

    Equal arguments give equal bytes.

    Raises:
        ValueError: the match is not over.
    """
    return with_chain(record(header, entries).replay(ratings))
