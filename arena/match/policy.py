"""The conduct policy of a match: limits on time, mistakes and absences. It is sent in the welcome and recorded in the
replay. The limits of the ready check before a match are sent in the welcome, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of one match, with durations in microseconds. The fields' metadata let operators set them in seconds."""

    soft_limit: int = field(
        default=1_000_000,
        metadata={
            "unit": "us",
            "help": "Time for one decision before the bank is used; doubled for a seat's first decision of a match.",
        },
    )
    bank: int = field(
        default=30_000_000,
        metadata={"unit": "us", "help": "Time beyond the soft limits that a seat has for the whole match."},
    )
    rejections_per_decision: int = field(
        default=3,
        metadata={"least": 1, "help": "Rejected answers to one decision after which the server plays."},
    )
    rejections_per_match: int = field(
        default=10,
        metadata={
            "least": 1,
            "help": "Rejected answers in a match after which the server plays at every mistake.",
        },
    )
    lates_in_a_row: int = field(
        default=3,
        metadata={
            "least": 1,
            "help": "Late decisions in a row that suspend a seat: the server plays until its bot is ready again.",
        },
    )
    lag_allowance: int = field(
        default=250_000,
        metadata={
            "unit": "us",
            "help": "Largest delay of a clock's start to allow for the bot's measured round trip.",
        },
    )
    grace: int = field(
        default=30_000_000,
        metadata={
            "unit": "us",
            "help": "Time for an absent bot to return before a house bot plays its seat.",
        },
    )
    newcomer_grace: int = field(
        default=5_000_000,
        metadata={"unit": "us", "help": "The same for a bot that has not finished a match yet, if it is less."},
    )
    incidents: int = field(
        default=3,
        metadata={
            "help": "Number of absences that get this time; the clock stops only during the first.",
        },
    )
    restart_hold: int = field(
        default=60_000_000,
        metadata={
            "unit": "us",
            "help": "Longest time for which all clocks are stopped after a restart of the server.",
        },
    )
    substituted_percent: int = field(
        default=25,
        metadata={
            "unit": "%",
            "most": 100,
            "help": "Part of the rounds played by a house bot above which the seat gets the last place, without moving "
            "an opponent's rating.",
        },
    )


class ReadyLimits(NamedTuple):
    """Time limits of a ready check, in seconds after an invitation."""

    answer: float
    """Time after which an unanswered invitation has failed."""
    offer: float
    """Time after which the seat of a bot that has not answered is also offered to another player."""
    seat: float
    """Time by which a seat must have a player."""
