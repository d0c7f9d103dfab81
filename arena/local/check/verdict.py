"""The verdict of a check, and its wording."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """The verdict of a check."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    """It works, at some cost for the bot."""
    FAIL = "fail"
    SKIP = "skip"
    """It was not asked."""


class Fault(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check: the bot's behaviour costs it matches; the message describes it."""


class Doubt(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check: a server accepts the bot's behaviour, but the bot should do otherwise."""


class NotAsked(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check that this bot cannot be asked."""
