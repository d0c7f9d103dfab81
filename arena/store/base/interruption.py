"""The causes of interruptions, which leave a match without a result, and their description in words."""

from __future__ import annotations

from enum import Enum


class Interruption(Enum):
    """The cause of an interruption. The value is part of the stored reason, also in old data."""

    JOURNAL_LOST = "died and left no journal of the match"
    JOURNAL_DAMAGED = "died and the journal of the match is damaged"
    NOT_RESTORED = "died and the match cannot be restored"
    """The match's lines in the journal can be read, but the match cannot continue from them."""
    NOT_RECORDED = "could not record the result"
    """The match was played to its end, but an error in the server prevented a result."""

    @classmethod
    def of(cls, reason: str) -> Interruption | None:
        """Return the cause that a stored reason names. None if the reason is empty or from another version of the
        server.
        """
        return next((each for each in cls if each.value in reason), None)

    def in_words(self, subject: str = "the server") -> str:
        """Return the cause as a sentence about its subject, such as "node 2"."""
        return f"{subject} {self.value}"
