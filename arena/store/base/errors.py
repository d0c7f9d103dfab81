# ruff: noqa: N818 - the names say what is the matter, which "Error" at their end would not make clearer
"""Errors of the data directory, and refusals to which callers can react.

All of them can be pickled with their fields.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

STANDBY: Final = "it is a standby, which accepts no writes: name the primary"


class _PicklableError(Exception):
    """An error that can be pickled, regardless of its constructor's arguments."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[_PicklableError], args: tuple[Any, ...], values: dict[str, Any]) -> _PicklableError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error


class StoreError(_PicklableError):
    """The store has failed. No part of the request was stored."""


class StoreLocked(StoreError):
    """Another server is using the data directory."""

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


class StoreNewer(StoreError):
    """The database was created or migrated by a newer version of the program."""

    def __init__(self, path: Path, revision: str) -> None:
        super().__init__(f"{path} was made by a newer arena (schema {revision}); upgrade this one")
        self.path = path
        self.revision = revision


class StoreOlder(StoreError):
    """The database has an older schema. A server must migrate it before it can be read."""

    def __init__(self, path: Path, revision: str) -> None:
        super().__init__(f"{path} was made by an older arena (schema {revision}); starting a server on it updates it")
        self.revision = revision


class StoreTooOld(StoreError):
    """The database has a schema from which this program has no migration."""

    def __init__(self, path: Path, revision: str, oldest: str, first: str) -> None:
        reached, commit = (oldest, "6904997") if revision < oldest else (first, "f9fb6f4f")
        super().__init__(
            f"{path} has the schema {revision}, and this arena updates the schema {oldest} and those from {first} on; "
            f"start the arena of commit {commit} on it first, which updates it to {reached}, or choose another data "
            "directory"
        )
        self.path = path
        self.revision = revision


class DiskFull(StoreError):
    """The disk is full."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"no room left on the disk of {path}; nothing was stored, make room and try again")
        self.path = path


def file_error(path: Path, error: OSError) -> DiskFull | StoreUnusable:
    """Return the store's error for an operating system error about a file of the data directory."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiskFull(path)
    return StoreUnusable(path, error.strerror or str(error))


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Raise operating system errors of the `with` block as errors about a file. Raises: DiskFull, StoreUnusable."""
    try:
        yield
    except OSError as error:
        raise file_error(path, error) from error


class StoreReplaced(StoreError):
    """A file of the data directory was deleted or replaced while a server had it open."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was deleted or replaced while the server had it open, and nothing that came since is told to "
            "anybody; put it back or restore a backup, then start the server again"
        )
        self.path = path


class LogKeyUnusable(StoreError):
    """The key in the log's key file is not the one that the log names."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} is not the key that signs this log of results: {reason}; put the right one back, from a backup or "
            "from another machine of several"
        )


class BackupUnusable(StoreError):
    """A backup is unfinished, damaged or not a backup."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is no backup that can be restored: {reason}")


class PathTaken(StoreError):
    """A backup or a restored data directory would overwrite something."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} exists already and is not overwritten; name a path that does not exist")


class StoreBusy(StoreError):
    """Another process has held the write lock for too long, for example because it is stopped."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__(
            f"another process has been writing to {path} for {seconds:g} s, so nothing was stored; if this goes on, "
            "find the stopped process (state T in `ps`) and continue or end it"
        )


def without_password(store: str) -> str:
    """Return an address without its password and its parameters."""
    start, _, rest = store.partition("://")
    access, at, place = rest.partition("?")[0].rpartition("@")
    return f"{start}://{access.partition(':')[0]}{at}{place}" if rest else store.partition("@")[0]


class ServerUnusable(StoreError):
    """The database server cannot be reached or used."""

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(f"{without_password(store)} cannot be used as the store: {reason}")


class NodeError(StoreError):
    """This server cannot be a node, or no longer is one."""


class LeaseLost(NodeError):
    """Another node has interrupted this node's matches, or a newer process of this node has replaced this one."""

    def __init__(self, number: int) -> None:
        super().__init__(
            f"this server is node {number} no longer: it did not renew its lease in time, or was started again; its "
            "matches are not its own any more, so start it again"
        )


class JobLost(NodeError):
    """Another node now does a job for all nodes that this node did before."""

    def __init__(self, number: int, job: str) -> None:
        super().__init__(
            f"node {number} did not renew its lease in time, and another node does the job {job!r} now; start node "
            f"{number} again, and it continues its matches"
        )


class StoreClosed(StoreError):
    """The store is closed and accepts no more jobs."""

    def __init__(self) -> None:
        super().__init__("the store is closed")


class Refused(_PicklableError):
    """The store refuses a request. The message gives the remedy."""

    wait: float | None = None
    """Seconds after which the same request may succeed, or None if unknown."""


class NameNotAllowed(Refused):
    """The name is not allowed for a bot or an owner."""

    def __init__(self, name: str, rule: str) -> None:
        super().__init__(f"the name {name!r} is not allowed: {rule}")
        self.name = name


class TokenNotAllowed(Refused):
    """The token that a client chose is malformed or taken. The message omits the token, which may be another bot's."""


class NameTaken(Refused):
    """Another bot has or once had the name, ignoring case."""

    def __init__(self, name: str, holder: str) -> None:
        by = "" if holder == name else f" by {holder!r}"
        super().__init__(f"the name {name!r} is taken{by}; choose another")
        self.name = name
        self.holder = holder


class TooManyBots(Refused):
    """The owner already has as many bots as the server allows."""

    def __init__(self, owner: str, bots_per_owner: int) -> None:
        super().__init__(f"{owner} has {bots_per_owner} bots, and more are not allowed here; use one of them")
        self.owner = owner
        self.bots_per_owner = bots_per_owner


class UnknownBot(Refused):
    """No bot has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no bot {name!r}; `arena bots list` has their names")
        self.name = name


class OfTheHouse(Refused):
    """The bot is a house bot, which has no token and is never parked, hidden, deleted or renamed."""


class BotDeleted(Refused):
    """The operator has deleted the bot."""


class NotParked(Refused):
    """The bot is not parked."""


class OwnerBanned(Refused):
    """The owner of the bot is banned."""


class NothingToChange(Refused):
    """The bot or owner is already in the requested state."""

    def __init__(self, name: str, state: str) -> None:
        super().__init__(f"nothing to change: {name} is {state}")


class InvitationRefused(Refused):
    """The invitation is missing, unknown, used, expired or revoked, or is for something else."""


class InvitationNotAllowed(Refused):
    """The requested invitations cannot be created."""


class NoSuchInvitation(Refused):
    """No invitation has this number."""


class EntryRefused(Refused):
    """The bot may not enter the ladder."""

    def __init__(self, bot: str, ladder: str, remedy: str) -> None:
        super().__init__(f"{bot} may not enter the ladder {ladder}: {remedy}")


class NoSuchSeason(Refused):
    """The ladder has no season with this number."""

    def __init__(self, ladder: str, number: int, newest: int) -> None:
        super().__init__(f"the ladder {ladder} has no season {number}; its seasons are numbered from 1 to {newest}")


class NoSuchLadder(Refused):
    """No ladder has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no ladder {name!r}; there is {', '.join(known)}")


class LadderOfOtherGame(Refused):
    """The requested ladder belongs to a game other than the requested game."""

    def __init__(self, ladder: str, of_game: str, game: str) -> None:
        super().__init__(f"the ladder {ladder} is of {of_game}, not of {game}; leave the game out, or name its ladder")


class NoLadderNamed(Refused):
    """A season is requested without a ladder or a game."""

    def __init__(self, season: int) -> None:
        super().__init__(f"season {season} of which ladder? Name the ladder, or the game for its default ladder")


class NoSuchEvent(Refused):
    """No event has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no event {name!r}; `arena event list` shows all events")


class EventNameTaken(Refused):
    """An event, perhaps a past one, already has this name."""


class BadEvent(Refused):
    """The server cannot run the requested event. The message gives the value and the remedy."""


class EventRefused(Refused):
    """The event's state does not allow the request. The message gives the reason and the remedy."""


class UnknownToken(Refused):
    """No bot has this token."""


class UnknownMatch(Refused):
    """No match has this id."""

    def __init__(self, match_id: int) -> None:
        super().__init__(f"there is no match {match_id}")
        self.match_id = match_id


class NoResult(Refused):
    """The match has no result that could be annulled."""


class ResultVoid(Refused):
    """The result of the match is already annulled."""


class ReasonNotAllowed(Refused):
    """The reason is empty, too long or has unprintable characters."""

    def __init__(self, reason: str, most: int) -> None:
        super().__init__(f"the reason {reason[: most + 1]!r} is not allowed: 1 to {most} printable characters")


class MatchNotPlaying(Refused):
    """The match has ended and cannot be finished again."""

    def __init__(self, match_id: int, state: str) -> None:
        super().__init__(f"match {match_id} is {state}, it cannot be finished again")
        self.match_id = match_id
        self.state = state


class NoReplay(Refused):
    """The match has no replay, or has none yet."""

    def __init__(self, match_id: int, state: str) -> None:
        remedy = "wait until it is over" if state == "playing" else "only finished matches have one"
        super().__init__(f"match {match_id} is {state} and has no replay; {remedy}")
        self.match_id = match_id
        self.state = state


class ReplayDamaged(StoreError):
    """The stored replay of the match cannot be read. No other data is lost."""

    def __init__(self, match_id: int, reason: str) -> None:
        super().__init__(
            f"the stored replay of match {match_id} is damaged: {reason}. A backup may have it; the result stands"
        )
        self.match_id = match_id
        self.reason = reason


class ReplayPruned(Refused):
    """The replay of the match was pruned. Only its digest remains."""

    def __init__(self, match_id: int, sha256: bytes) -> None:
        super().__init__(
            f"the replay of match {match_id} is pruned: the server keeps the newest ones only. Its result stays, and so"
            f" does the SHA-256 of what was stored, {sha256.hex()}"
        )
