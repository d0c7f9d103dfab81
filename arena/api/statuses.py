"""The gRPC statuses of refusals and errors of the server and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import grpc

from arena.server.sessions.authorization import NotPermitted, Unauthenticated
from arena.store import errors
from arena.transport.call import CallRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import TypeVar

    T = TypeVar("T")

STATUS: Final[dict[type[errors.Refused], grpc.StatusCode]] = {
    errors.NameTaken: grpc.StatusCode.ALREADY_EXISTS,
    errors.NameNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
    errors.TokenNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
    errors.InvitationRefused: grpc.StatusCode.PERMISSION_DENIED,
    errors.TooManyBots: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.UnknownBot: grpc.StatusCode.NOT_FOUND,
    errors.OfTheHouse: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NotParked: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UnknownMatch: grpc.StatusCode.NOT_FOUND,
    errors.NoReplay: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoResult: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ResultVoid: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ReasonNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
}
LARGEST_NUMBER: Final = (1 << 63) - 1
"""The largest number of a match; larger ones cannot be stored."""


async def looked_up(answer: Awaitable[T]) -> T:
    """Await an answer of the server. Raises CallRefused with the gRPC status of its refusal or error."""
    try:
        return await answer
    except Unauthenticated as refused:
        raise CallRefused(grpc.StatusCode.UNAUTHENTICATED, str(refused)) from refused
    except NotPermitted as refused:
        raise CallRefused(grpc.StatusCode.PERMISSION_DENIED, str(refused)) from refused
    except errors.Refused as refused:
        raise CallRefused(STATUS[type(refused)], str(refused)) from refused
    except errors.StoreError as error:
        raise CallRefused(grpc.StatusCode.UNAVAILABLE, str(error)) from error
