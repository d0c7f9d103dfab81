"""Writing a match down while it runs: its lines one by one, and at the end the whole.

Many matches run at once, so a `Recorder` takes from every input and effect what a replay says of it, and lets go of it;
what was shown it keeps until the round is over. It never changes what it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.match.effects import Ask, Effect, Force, Over, Refuse, Show
from arena.match.inputs import Acted, Input, Sent
from arena.replay.chain import chained, pack
from arena.replay.header import Bot, ChangeLike, Entry, Header
from arena.replay.lines import VERSION, effect_line, header_line, input_line, ratings_line, result_line, shown_line
from arena.replay.shown import Shown
from arena.replay.thinking import Stopwatch, Thinking

__all__ = ["Bot", "ChangeLike", "Entry", "Header", "Recorder", "encode", "record"]


class Draft(NamedTuple):
    """A replay but for what the match does to the ratings: plain values, for whoever comes to know that."""

    text: str
    """All lines but the last, which is of the ratings."""
    names: list[str]
    """Of the bots, by seat."""

    def rated(self, ratings: Sequence[ChangeLike]) -> bytes:
        """The replay as it is stored, without its chain; `ratings` by seat."""
        return pack([self.text, ratings_line(ratings, self.names)])


class Recorder:
    """What is written down of a match so far."""

    __slots__ = ("_header", "_lines", "_over", "_shown", "_stopwatch", "_version")

    def __init__(self, header: Header, version: int = VERSION) -> None:
        """Of a match about to begin, in a version of the format."""
        seats, policy = len(header.bots), header.policy
        self._header = header
        self._version = version
        self._lines: list[str] = []
        self._shown = Shown(seats, policy.bank, version)
        self._stopwatch = Stopwatch(seats, policy.lag_allowance)
        self._over: Over | None = None

    def add(self, event: Input, effects: Sequence[Effect], line: str) -> None:
        """One input, the effects it had, in the order the match took them, and the input's line.

        All of it is added or, if it raises, nothing that `lines` tells.
        """
        lines = [line]
        refused = False
        for effect in effects:
            if type(effect) is Ask:  # nearly always
                self._shown.add(effect)
                self._stopwatch.due(effect.seat, effect.decision)
                continue
            lines.append(effect_line(effect, self._header.game))
            if isinstance(effect, Force):
                self._stopwatch.due(effect.seat, effect.decision)
            elif isinstance(effect, Refuse):
                refused = True
            elif isinstance(effect, Over):
                self._over = effect
            if isinstance(effect, Show) or (isinstance(effect, Over) and not effect.places):
                lines.append(shown_line(self._shown.close()))
        if type(event) is Sent:
            self._stopwatch.sent(event)
        elif type(event) is Acted and not refused:
            self._stopwatch.made(event)
        self._lines += lines

    def lines(self, ratings: Sequence[ChangeLike] | None = None) -> list[str]:
        """The lines of the replay without their chain; `ratings` by seat, None when it was not rated.

        While the match is not over there is neither result nor ratings.
        """
        lines = self._told(rated=ratings is not None)
        if self._over is not None and ratings is not None:
            lines.append(ratings_line(ratings, self._names()))
        return lines

    def draft(self) -> Draft:
        """The replay of a match that is to be rated; ValueError when it is not over."""
        self._must_be_over()
        return Draft("\n".join(self._told(rated=True)), self._names())

    def replay(self, ratings: Sequence[ChangeLike] | None = None) -> bytes:
        """The replay of the match as it is stored, without its chain; ValueError when the match is not over."""
        self._must_be_over()
        return pack(self.lines(ratings))

    def _told(self, rated: bool) -> list[str]:
        """All lines so far but that of the ratings."""
        lines = [header_line(self._header, rated, self._version), *self._lines]
        if self._over is not None:
            lines.append(result_line(self._over, self._names()))
        return lines

    def _names(self) -> list[str]:
        return [bot.name for bot in self._header.bots]

    def _must_be_over(self) -> None:
        if self._over is None:
            raise ValueError(f"match {self._header.match} is not over")

    def thinking(self) -> tuple[Thinking, ...]:
        """By seat, how the bots used their time."""
        return self._stopwatch.thinking()


def record(header: Header, entries: Iterable[Entry], version: int = VERSION) -> Recorder:
    """What a recorder has of a match in which this happened."""
    recorder = Recorder(header, version)
    for event, effects in entries:
        recorder.add(event, effects, input_line(event, header.game))
    return recorder


def encode(header: Header, entries: Iterable[Entry], ratings: Sequence[ChangeLike] | None = None) -> bytes:
    """The replay file of a match that is over; `ratings` by seat, None when it was not rated.

    Equal arguments give equal bytes. ValueError when the match is not over.
    """
    return chained(record(header, entries).replay(ratings))
