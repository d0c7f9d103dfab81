"""What lateness and mistakes cost: the numbers of one match, published in the welcome and recorded in the replay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """Durations in microseconds, as every time inside a match."""

    soft_limit: int = 1_000_000
    """Time for one decision before the bank is used; doubled for a seat's first decision of a match."""
    bank: int = 30_000_000
    """Time beyond the soft limits that a seat has for the whole match."""
    rejections_per_decision: int = 3
    """The rejected answer to one decision that makes the server play instead."""
    rejections_per_match: int = 10
    """The rejected answer of a match from which on every mistake makes the server play at once."""
    lates_in_a_row: int = 3
    """Late decisions in a row that suspend a seat: the server plays for it at once until it is ready again."""
    lag_allowance: int = 250_000
    """The most that a bot's measured round trip to the server delays the start of its clock."""
    grace: int = 30_000_000
    """How long a bot that is gone has to come back before a house bot plays its seat on."""
    incidents: int = 3
    """How often a bot may be gone and have that time; its clock stands still during the first of them only."""
    restart_hold: int = 60_000_000
    """How long all clocks stand still, at most, after the server was restarted."""
    substituted_percent: int = 25
    """Where a house bot sat in more than this part of the rounds, the seat comes last and no other's result counts."""
