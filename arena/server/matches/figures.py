"""Sums over a server's matches since its start. They change only when a match ends."""

from __future__ import annotations

from collections import Counter, defaultdict

from arena.durations import Durations
from arena.match.effects import Cause
from arena.server.matches.driver import MatchDriver
from arena.server.sessions.player import BotPlayer
from arena.store.ladder.seasons import name_of


class MatchFigures:
    """Sums over finished matches."""

    def __init__(self) -> None:
        self.decisions: Counter[tuple[str, str]] = Counter()
        """Number of decisions by ladder's name and kind of player, "bot" or "house"."""
        self.matches: Counter[tuple[str, str]] = Counter()
        """Number of matches by ladder's name and kind."""
        self.forced: Counter[Cause] = Counter()
        self.thinking: defaultdict[str, Durations] = defaultdict(Durations)
        """Think times of bots' own decisions, by ladder's name."""

    def ended(self, driver: MatchDriver) -> None:
        """Count a finished match."""
        ladder = name_of(driver.ladder_id)
        self.matches[ladder, driver.kind.value] += 1
        self.forced.update(driver.forced)
        self.decisions.update(decisions_of(driver))
        times = self.thinking[ladder]
        for seat in driver.thinking:
            for microseconds in seat.times:
                times.add(microseconds / 1e6)


def decisions_of(driver: MatchDriver) -> Counter[tuple[str, str]]:
    """Return the decisions of a match so far, by ladder's name and kind of player."""
    found: Counter[tuple[str, str]] = Counter()
    for player, due in zip(driver.players, driver.due_so_far, strict=True):
        found[name_of(driver.ladder_id), "bot" if isinstance(player, BotPlayer) else "house"] += due
    return found
