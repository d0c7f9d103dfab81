"""The conduct policy of a match: limits on time, mistakes and absences. Sent in the welcome, recorded in the replay."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of one match; durations in microseconds. Operators set them in seconds, by the metadata of the fields."""

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
        metadata={"least": 1, "help": "The rejected answer to one decision that makes the server play instead."},
    )
    rejections_per_match: int = field(
        default=10,
        metadata={
            "least": 1,
            "help": "The rejected answer of a match from which on every mistake makes the server play at once.",
        },
    )
    lates_in_a_row: int = field(
        default=3,
        metadata={
            "least": 1,
            "help": "Late decisions in a row that suspend a seat: the server plays for it at once until it is ready "
            "again.",
        },
    )
    lag_allowance: int = field(
        default=250_000,
        metadata={
            "unit": "us",
            "help": "The most that a bot's measured round trip to the server delays the start of its clock.",
        },
    )
    grace: int = field(
        default=30_000_000,
        metadata={
            "unit": "us",
            "help": "How long a bot that is gone has to come back before a house bot plays its seat on.",
        },
    )
    newcomer_grace: int = field(
        default=5_000_000,
        metadata={"unit": "us", "help": "The same for a bot that has not finished a match yet, where it is less."},
    )
    incidents: int = field(
        default=3,
        metadata={
            "help": "How often a bot may be gone and have that time; its clock stands still during the first of them "
            "only.",
        },
    )
    restart_hold: int = field(
        default=60_000_000,
        metadata={
            "unit": "us",
            "help": "How long all clocks stand still, at most, after the server was restarted.",
        },
    )
    substituted_percent: int = field(
        default=25,
        metadata={
            "unit": "%",
            "most": 100,
            "help": "Where a house bot sat in more than this part of the rounds, the seat comes last and moves no "
            "opponent's rating.",
        },
    )
