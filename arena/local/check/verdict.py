"""The verdict of a check, and its wording."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """The verdict of a check."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    """It works, and costs the bot something all the same."""
    FAIL = "fail"
    SKIP = "skip"
    """It was not asked."""


class Fault(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check: the bot does what costs it matches; the message says what it did."""


class Doubt(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check: the bot does what a server takes, and should do otherwise."""


class NotAsked(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check that this bot cannot be asked."""
