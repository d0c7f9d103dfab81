"""The causes for which a match has no result, and the stored reasons in words."""

from __future__ import annotations

from enum import Enum


class Interruption(Enum):
    """The cause for which a match has no result. The value is a part of the stored reason, also in old data."""

    JOURNAL_LOST = "the server died and left no journal of the match"
    """The start after the server's death found no journal of the match."""
    JOURNAL_DAMAGED = "the server died and the journal of the match is damaged"
    """The start after the server's death could not read the match's lines in the journal."""
    NOT_RESTORED = "died and the match cannot be restored"
    """The server or one of its processes died, and the match could not continue from its journal."""
    NOT_RECORDED = "the server could not record the result"
    """The match was played to its end, but a fault of the server prevented a result."""

    @classmethod
    def of(cls, reason: str) -> Interruption | None:
        """Return the cause that a stored reason names; None for an empty reason, or one of another server's words."""
        return next((each for each in cls if each.value in reason), None)
