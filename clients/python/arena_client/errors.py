"""Permanent errors.

After any other error (a lost connection, a server that restarts) the client logs the error and retries.
"""

from __future__ import annotations


class ArenaError(Exception):
    """Error after which the bot cannot continue. The message gives the cause and the remedy."""

    reason: str = ""
    """The server's machine-readable reason, such as "OWNER_BANNED"; empty without one."""
    status = 3
    """Exit status of `arena-bot`: 1 error in the bot, 2 wrong command line, 3 refusal, 4 no server reached."""

    def told(self, bot: str) -> str:
        """Return a program's final message: the reason in one line, and for an error in the bot also the bot's view."""
        lines = [f"{bot}: {' '.join(str(self).split())}", *getattr(self, "__notes__", ())]
        return "".join(f"{line}\n" for line in lines)


class ArgumentError(ArenaError, ValueError):
    """An argument of `run`, `play` or `connect` is invalid, such as a file that cannot be read."""

    status = 2


class TokenRefusedError(ArenaError):
    """The server does not know the token."""


class NameTakenError(ArenaError):
    """Another bot on this server already has this name."""


class NameNotAllowedError(ArenaError):
    """The server does not accept the name of the bot or of its owner."""


class InvitationNeededError(ArenaError):
    """The server registers new bots only by invitation, or does not accept this invitation."""


class NoGameInCommonError(ArenaError):
    """The server plays none of the bot's games."""


class ProtocolMismatchError(ArenaError):
    """The other side is not an Arena server, is newer than this client, or is too old for the bot's ladders."""


class TakenOverError(ArenaError):
    """The same bot connected from somewhere else; only the newest connection continues."""


class RefusedError(ArenaError):
    """The server ended the connection for a permanent reason."""


class ParkedError(ArenaError):
    """The bot is parked: it gets no seats until its author or the operator un-parks it."""


class UnreachableError(ArenaError):
    """There was no connection for too long, or no connection is possible at this address."""

    status = 4


class BadAnswerError(ArenaError):
    """`decide` or `decide_many` returned an invalid answer."""

    status = 1
