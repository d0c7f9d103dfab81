# ruff: noqa: N818 - the names say what is the matter, which "Error" at their end would not make clearer
"""What can go wrong with the data directory, and what the store refuses to callers. Every error carries its values."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class _Told(Exception):
    """Says the same in another process, whatever it is made from."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _told, (type(self), self.args, self.__dict__)


def _told(kind: type[_Told], args: tuple[Any, ...], values: dict[str, Any]) -> _Told:
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error


class StoreError(_Told):
    """The store cannot do its work; nothing of what was asked is stored."""


class StoreLocked(StoreError):
    """Another server works on the data directory."""

    def __init__(self, directory: Path, pid: int | None) -> None:
        holder = "another server" if pid is None else f"the server with process id {pid}"
        super().__init__(f"{directory} is in use by {holder}; stop it or choose another data directory")
        self.directory = directory
        self.pid = pid


class StoreUnusable(StoreError):
    """The data directory or a file in it cannot be used: not a directory, missing, not readable or not writable."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be used as arena data: {reason}")
        self.path = path


class StoreCorrupt(StoreError):
    """The database is damaged, or is not a database of the arena."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is damaged or not an arena database ({reason}); move it away or restore a copy")
        self.path = path


class StoreNewer(StoreError):
    """The database was made by a newer program."""

    def __init__(self, path: Path, revision: str) -> None:
        super().__init__(f"{path} was made by a newer arena (schema {revision}); upgrade this one")
        self.path = path
        self.revision = revision


class StoreOlder(StoreError):
    """The database was made by an older program and can only be read after a server has brought it up to date."""

    def __init__(self, path: Path, revision: str) -> None:
        super().__init__(f"{path} was made by an older arena (schema {revision}); starting a server on it updates it")
        self.path = path
        self.revision = revision


class DiskFull(StoreError):
    """There is no room left."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"no room left on the disk of {path}; nothing was stored, make room and try again")
        self.path = path


class StoreClosed(StoreError):
    """The store takes no more work."""

    def __init__(self) -> None:
        super().__init__("the store is closed")


class Refused(_Told):
    """The store works, but does not do what a caller asks; the message says what the caller can do."""


class NameNotAllowed(Refused):
    """A name that no bot or owner may have."""

    def __init__(self, name: str, rule: str) -> None:
        super().__init__(f"the name {name!r} is not allowed: {rule}")
        self.name = name


class TokenNotAllowed(Refused):
    """A token that no bot may choose for itself; it is named nowhere, as it may be another bot's."""


class NameTaken(Refused):
    """Another bot has the name, perhaps with other capitals."""

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(f"the name {name!r} is taken by {holder!r}; choose another")
        self.name = name
        self.holder = holder


class TooManyBots(Refused):
    """An owner has as many bots as one may have."""

    def __init__(self, owner: str, most: int) -> None:
        super().__init__(f"{owner} has {most} bots, and more are not allowed here; use one of them")
        self.owner = owner
        self.most = most


class UnknownBot(Refused):
    """No bot has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no bot {name!r}; `arena bots list` has their names")
        self.name = name


class OfTheHouse(Refused):
    """House bots have no tokens and are never parked."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is one of the server's own: it has no token and is never parked")
        self.name = name


class NotParked(Refused):
    """The bot is not parked."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not parked; it is given seats whenever it is connected and has room")
        self.name = name


class InvitationRefused(Refused):
    """Registration needs an invitation that nobody has used."""


class UnknownToken(Refused):
    """No bot has this token."""

    def __init__(self) -> None:
        super().__init__("no bot here has this token; register the bot, or use the token of its registration")


class UnknownMatch(Refused):
    """No match has this number."""

    def __init__(self, match: int) -> None:
        super().__init__(f"there is no match {match}")
        self.match = match


class NoResult(Refused):
    """The match has no result that could be taken back."""

    def __init__(self, match: int, state: str) -> None:
        super().__init__(f"match {match} is {state} and has no result; only that of a finished match can be void")
        self.match = match
        self.state = state


class ResultVoid(Refused):
    """The result of the match is void already."""

    def __init__(self, match: int, reason: str) -> None:
        super().__init__(f"the result of match {match} is void already: {reason}")
        self.match = match
        self.reason = reason


class ReasonNotAllowed(Refused):
    """A reason that nobody could read."""

    def __init__(self, reason: str, most: int) -> None:
        super().__init__(f"the reason {reason[: most + 1]!r} is not allowed: 1 to {most} printable characters")
        self.reason = reason


class MatchNotPlaying(Refused):
    """A match that is over cannot end again."""

    def __init__(self, match: int, state: str) -> None:
        super().__init__(f"match {match} is {state}, it cannot be finished again")
        self.match = match
        self.state = state


class NoReplay(Refused):
    """The match has no replay (yet)."""

    def __init__(self, match: int, state: str) -> None:
        remedy = "wait until it is over" if state == "playing" else "only finished matches have one"
        super().__init__(f"match {match} is {state} and has no replay; {remedy}")
        self.match = match
        self.state = state


class EventsGone(StoreError):
    """A published ladder is made of events that the list does not have any more."""

    def __init__(self, game: str, through: int, newest: int) -> None:
        super().__init__(
            f"the published ladder of {game} goes up to event {through}, but the list ends with event {newest}: "
            "events are missing; restore the database from a copy"
        )
        self.game = game
        self.through = through
        self.newest = newest
