"""Permanent errors. Everything else (a lost network, a server that restarts) is retried and only logged."""

from __future__ import annotations


class ArenaError(Exception):
    """The bot cannot go on; the message says why and what to do."""

    reason: str = ""
    """The server's reason for programs, such as "OWNER_BANNED"; empty where it gave none."""
    status = 3
    """The exit status of `arena-bot`: 1 the bot's error, 2 a wrong command line, 3 a refusal, 4 nothing was reached."""

    def told(self, bot: str) -> str:
        """Return what a program of this bot ends with: the reason in one line; where the bot erred, what it saw."""
        lines = [f"{bot}: {' '.join(str(self).split())}", *getattr(self, "__notes__", ())]
        return "".join(f"{line}\n" for line in lines)


class ArgumentError(ArenaError, ValueError):
    """An argument of `run` or `play` makes no sense, such as a file that cannot be read."""

    status = 2


class TokenRefusedError(ArenaError):
    """The server does not know the token."""


class NameTakenError(ArenaError):
    """Another bot on this server has the name."""


class NameNotAllowedError(ArenaError):
    """The server does not accept the name of the bot or of its owner."""


class InvitationNeededError(ArenaError):
    """The server registers new bots by invitation only, or does not accept this one."""


class NoGameInCommonError(ArenaError):
    """The server plays none of the bot's games."""


class ProtocolMismatchError(ArenaError):
    """The other side is no Arena server, or is newer than this client."""


class TakenOverError(ArenaError):
    """The same bot connected from somewhere else; the newest connection plays on."""


class RefusedError(ArenaError):
    """The server ended the connection for a reason that trying again does not change."""


class ParkedError(ArenaError):
    """The bot is parked: it is given no seats until somebody un-parks it."""


class UnreachableError(ArenaError):
    """There was no connection for longer than the caller wanted to wait, or there can be none at this address."""

    status = 4


class BadAnswerError(ArenaError):
    """`decide` or `decide_many` returned something that is no answer."""

    status = 1
