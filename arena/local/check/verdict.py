"""The verdict of a check, and its wording."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """The verdict of a check."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    """The bot works, but its behaviour costs it something."""
    FAIL = "fail"
    SKIP = "skip"
    """The check was not made."""


class Fault(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check if the bot's behaviour costs it matches. The message describes the behaviour."""


class Doubt(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check if a server accepts the bot's behaviour, but the bot should behave differently."""


class NotAsked(Exception):  # noqa: N818 - the name says what is the matter
    """Raised by a check that cannot be made with this bot."""
