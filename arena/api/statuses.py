"""The gRPC statuses of refusals and errors of the server and its store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import grpc

from arena.server.matchmaking.challenges import BadChallenge, NotChallenged, TooManyChallenges
from arena.server.sessions.admission import NotPermitted, Unauthenticated
from arena.server.sessions.hourly import TooManyRegistrations
from arena.store.base import errors
from arena.store.matches.search import NoSuchSearch
from trio_grpc.grpc.refusals import explained

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Concatenate, ParamSpec, TypeVar

    from sqlalchemy import Connection

    from arena.server.arena import Arena
    from trio_grpc.grpc.call import CallRefused

    P = ParamSpec("P")
    T = TypeVar("T")

STATUS: Final[dict[type[errors.Refused], grpc.StatusCode]] = {
    errors.NameTaken: grpc.StatusCode.ALREADY_EXISTS,
    errors.NameNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
    errors.TokenNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
    errors.InvitationRefused: grpc.StatusCode.PERMISSION_DENIED,
    errors.InvitationNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NoSuchInvitation: grpc.StatusCode.NOT_FOUND,
    errors.NoSuchLadder: grpc.StatusCode.FAILED_PRECONDITION,
    errors.EntryRefused: grpc.StatusCode.PERMISSION_DENIED,
    errors.OwnerBanned: grpc.StatusCode.PERMISSION_DENIED,
    errors.TooManyBots: grpc.StatusCode.FAILED_PRECONDITION,
    TooManyRegistrations: grpc.StatusCode.RESOURCE_EXHAUSTED,
    BadChallenge: grpc.StatusCode.INVALID_ARGUMENT,
    NotChallenged: grpc.StatusCode.FAILED_PRECONDITION,
    TooManyChallenges: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.NoSuchEvent: grpc.StatusCode.NOT_FOUND,
    errors.EventNameTaken: grpc.StatusCode.ALREADY_EXISTS,
    errors.BadEvent: grpc.StatusCode.INVALID_ARGUMENT,
    errors.EventRefused: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NothingToChange: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UnknownBot: grpc.StatusCode.NOT_FOUND,
    errors.OfTheHouse: grpc.StatusCode.FAILED_PRECONDITION,
    errors.BotDeleted: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NotParked: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UnknownMatch: grpc.StatusCode.NOT_FOUND,
    errors.NoReplay: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ReplayPruned: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoLadderNamed: grpc.StatusCode.INVALID_ARGUMENT,
    errors.LadderOfOtherGame: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NoSuchSeason: grpc.StatusCode.NOT_FOUND,
    errors.NoResult: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ResultVoid: grpc.StatusCode.FAILED_PRECONDITION,
    NoSuchSearch: grpc.StatusCode.INVALID_ARGUMENT,
    errors.ReasonNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
}
LARGEST_NUMBER: Final = (1 << 53) - 1
"""The largest match number, which every language represents exactly."""
ERROR_DOMAIN: Final = "arena"
"""The domain of the reasons in `google.rpc.ErrorInfo`."""

PAUSES: Final[Mapping[str, float]] = {
    "STOPPING": 1.0,
    "STORE_UNAVAILABLE": 2.0,
    "NO_HELLO": 2.0,
    "NOT_READING": 5.0,
    "FLOODING": 5.0,
    "NOT_FITTED": 10.0,
}
"""Seconds before a client should return, by reason, unless the error states a time. Sent as `google.rpc.RetryInfo`."""


def refused(code: grpc.StatusCode, reason: str, text: str, wait: float | None = None) -> CallRefused:
    """Return the error that ends a call, with a text for people and a reason for programs, such as "TAKEN_OVER".

    `wait` is the number of seconds before the client should return. With None, the default for the reason applies, if
    there is one.
    """
    return explained(code, text, reason, ERROR_DOMAIN, PAUSES.get(reason) if wait is None else wait)


async def looked_up(answer: Awaitable[T]) -> T:
    """Await an answer from the server.

    Raises:
        CallRefused: with the gRPC status of the server's refusal or error.
    """
    try:
        return await answer
    except Unauthenticated as error:
        raise refused(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_UNKNOWN", str(error)) from error
    except NotPermitted as error:
        raise refused(grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED", str(error)) from error
    except errors.Refused as error:
        raise refused(STATUS[type(error)], _reason(type(error)), str(error), error.wait) from error
    except errors.StoreError as error:
        raise refused(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", str(error)) from error


async def read(arena: Arena, query: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the result of a query of the server's store. Raises: CallRefused, like `looked_up`."""
    return await looked_up(arena.store.read(lambda connection: query(connection, *args, **kwargs)))


async def of_owner(owner: str, answer: Awaitable[T]) -> T:
    """Await an answer. If the owner's name is refused, say in the refusal that it is the owner's."""
    try:
        return await answer
    except errors.NameNotAllowed as error:
        if not owner or error.name != owner:
            raise
        text = f"the owner's {str(error).removeprefix('the ')}"
        raise refused(grpc.StatusCode.INVALID_ARGUMENT, "NAME_NOT_ALLOWED", text) from error


def _reason(error: type[errors.Refused]) -> str:
    """Return the reason that corresponds to an error's name: NAME_TAKEN for NameTaken."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", error.__name__).upper()
