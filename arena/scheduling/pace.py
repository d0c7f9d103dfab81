# Compiled: every decision passes through here.
"""Paces of bots and the price of slow ones, computed at the end of a match.

A bot may use all its time, and nobody should be punished for thinking. But at a table of quick bots one slow bot makes
all others wait, and on a ladder matches are the currency. So we do not limit slowness; we limit its cost to others.

A bot's *pace* is the mean time for which it owes a decision in a match. It rises to a match's value at once and is
halved every few minutes: a bot can become slow without warning, but must show for a while that it is quick again. Bots
below 50 ms count as equally quick. Above that, paces fall into classes, one for each doubling, so that within a class
nobody is *much slower* than another, that is, by more than a factor of two. Each class is a lane
(`arena.scheduling.lane`), whose bots sit together freely.

Crossing classes has a price. A bot's *balance*, in seconds, grows by a share (15 %) of its time at tables. It shrinks
by the time in which only much slower bots owed an answer there. A bot sits with a slower one only while its balance is
positive. So it spends at most that share of its time waiting for slow bots, however many of them there are and whatever
names they use. A new balance is negative, so that a newcomer first plays with bots of its class.

The expected cost is charged when a match begins, and corrected at its end. Otherwise a bot with many matches would join
many slow tables before the first one has cost anything. `OwedTime` counts the time of each set of seats (a bit mask),
because the price depends on which bots *alone* owed an answer. The caller provides the time.

It is ugly that one number stands for a bot, since its time for a decision depends on the game and on the number of
matches it plays at once. The factor of two hides most of that. A bot of unknown pace counts as the slowest class, so it
first plays house bots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Final

MOST_CLASSES: Final = 12
"""The slowest class of paces; it includes bots of unknown pace."""


@dataclass(frozen=True, slots=True)
class PaceRules:
    """The rules for slow bots: when a bot is slow, and how much it may cost others. Times are in seconds."""

    quick: float = 0.05
    """The pace up to which a bot is never slow."""
    share: float = 0.15
    """Maximum share of its time at tables that a bot has to spend waiting for much slower bots."""
    first_balance: float = -20.0
    most_balance: float = 30.0
    half_life: float = 300.0
    """Time in which a bot's pace is halved if it plays no slower match."""

    def much_slower(self, pace: float, own: float) -> bool:
        """Return True if a bot with the pace `pace` is much slower than one with the pace `own`."""
        return pace > self.quick and pace > 2 * own

    def pace_class(self, pace: float | None) -> int:
        """Return the class of a pace: 0 up to `quick`, then one class per doubling."""
        if pace is None:
            return MOST_CLASSES
        return 0 if pace <= self.quick else min(MOST_CLASSES, 1 + int(log2(pace / self.quick)))


class Pace:
    """One bot's pace and balance."""

    __slots__ = ("_at", "_pace", "_rules", "balance")

    def __init__(self, rules: PaceRules) -> None:
        self.balance = rules.first_balance
        """Seconds for which the bot may still wait for much slower bots. It plays with them while this is positive."""
        self._rules = rules
        self._pace: float | None = None
        self._at = 0.0

    @property
    def known(self) -> bool:
        """True if a match has measured the pace."""
        return self._pace is not None

    @property
    def told(self) -> tuple[float, float] | None:
        """The measured pace in seconds and the time of the measurement. None before the first measurement."""
        return None if self._pace is None else (self._pace, self._at)

    def restore(self, pace: float, at: float, balance: float) -> None:
        """Restore a stored balance, and a pace that was measured at the time `at`."""
        self._pace, self._at = pace, at
        self.balance = min(self._rules.most_balance, balance)

    def at(self, now: float) -> float | None:
        """Return the pace at the time `now`, in seconds; None before the first measurement."""
        return None if self._pace is None else self._pace * 0.5 ** (max(0.0, now - self._at) / self._rules.half_life)

    def played(self, now: float, pace: float) -> None:
        """Update the pace with that of a finished match."""
        self._pace = max(pace, self.at(now) or 0.0)
        self._at = now

    def pay(self, expected: float) -> None:
        """Subtract the expected cost of a table. A negative cost is a refund."""
        self.balance -= expected

    def earn(self, table_time: float, waited: float) -> None:
        """Add the share of a match's time, and subtract the time spent waiting for much slower bots."""
        self.balance = min(self._rules.most_balance, self.balance + self._rules.share * table_time - waited)


class OwedTime:
    """The time for which each seat owed an answer, in microseconds. Times are in match time."""

    __slots__ = ("_held", "_open", "_owing", "_since", "decisions", "times")

    def __init__(self, seats: int) -> None:
        self.decisions = [0] * seats
        """Number of decisions so far, by seat."""
        self.times: dict[int, int] = {}
        """Time for which exactly the seats of a set owed an answer, by the set's bit mask."""
        self._open = [0] * seats
        self._owing = 0
        self._since = 0
        self._held = False

    def owes(self, seat: int, decision: int, at: int) -> None:
        """Count time from now on for a seat that owes a decision. A repeated call has no effect."""
        if self._open[seat] != decision:
            self._open[seat] = decision
            self.decisions[seat] += 1
            self._pass(at)
            self._owing |= 1 << seat

    def made(self, seat: int, decision: int, at: int) -> None:
        """Stop counting for a seat. No effect if it does not owe this decision."""
        bit = 1 << seat
        if self._open[seat] == decision and self._owing & bit:
            self._pass(at)
            self._owing ^= bit

    def hold(self, at: int, held: bool) -> None:
        """Pause or resume counting, because a server outage is no bot's fault."""
        self._pass(at)
        self._held = held

    def pace(self, seat: int) -> float | None:
        """Return the mean time in seconds for which a seat owed a decision, or None if it had none."""
        if not self.decisions[seat]:
            return None
        return sum([time for owing, time in self.times.items() if owing >> seat & 1]) / self.decisions[seat] / 1e6

    def waited(self, seat: int, paces: Sequence[float | None], rules: PaceRules) -> float:
        """Return the seconds in which every seat that owed an answer was much slower than this one.

        `paces` has None for seats without bots.
        """
        own, slower = paces[seat] or 0.0, 0
        for other, pace in enumerate(paces):
            if other != seat and pace is not None and rules.much_slower(pace, own):
                slower |= 1 << other
        return sum([time for owing, time in self.times.items() if owing and not owing & ~slower]) / 1e6

    def _pass(self, at: int) -> None:
        if self._owing and not self._held and at > self._since:
            self.times[self._owing] = self.times.get(self._owing, 0) + at - self._since
        self._since = at


def settle(
    paces: Sequence[Pace | None], owed: OwedTime, tells: Sequence[bool], now: float, rules: PaceRules
) -> list[float]:
    """Update the paces of a finished match's bots; return, by seat, the time spent waiting for much slower ones.

    `paces` has None for house bots. `tells` says for each seat whether this match may measure its bot's pace for the
    first time.
    """
    compared: list[float | None] = []
    for seat, pace in enumerate(paces):
        own = owed.pace(seat)
        if pace is None:
            compared.append(None)
        elif own is not None and (tells[seat] or pace.known):
            pace.played(now, own)
            compared.append(pace.at(now))
        else:
            compared.append(own)
    return [0.0 if pace is None else owed.waited(seat, compared, rules) for seat, pace in enumerate(paces)]
