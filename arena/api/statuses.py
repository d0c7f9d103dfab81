"""The gRPC statuses of refusals and errors of the server and its store."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from arena.server.matchmaking.challenges import BadChallenge, NotChallenged, TooManyChallenges
from arena.server.sessions.authorization import NotPermitted, Unauthenticated
from arena.server.sessions.registrations import TooManyRegistrations
from arena.store import errors
from arena.store.match_search import NoSuchSearch
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
    errors.OwnerBanned: grpc.StatusCode.PERMISSION_DENIED,
    errors.TooManyBots: grpc.StatusCode.RESOURCE_EXHAUSTED,
    TooManyRegistrations: grpc.StatusCode.RESOURCE_EXHAUSTED,
    BadChallenge: grpc.StatusCode.INVALID_ARGUMENT,
    NotChallenged: grpc.StatusCode.FAILED_PRECONDITION,
    TooManyChallenges: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.NothingToChange: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UnknownBot: grpc.StatusCode.NOT_FOUND,
    errors.OfTheHouse: grpc.StatusCode.FAILED_PRECONDITION,
    errors.BotDeleted: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NotParked: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UnknownMatch: grpc.StatusCode.NOT_FOUND,
    errors.NoReplay: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ReplayPruned: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoResult: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ResultVoid: grpc.StatusCode.FAILED_PRECONDITION,
    NoSuchSearch: grpc.StatusCode.INVALID_ARGUMENT,
    errors.ReasonNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
}
LARGEST_NUMBER: Final = (1 << 53) - 1
"""The largest number of a match: every language counts so far exactly."""
ERROR_DOMAIN: Final = "arena"
"""The domain of the reasons in `google.rpc.ErrorInfo`."""


def refused(code: grpc.StatusCode, reason: str, text: str) -> CallRefused:
    """Return the end of a call with a status, a text for people and a reason, such as "TAKEN_OVER", for programs."""
    details = any_pb2.Any()
    details.Pack(error_details_pb2.ErrorInfo(reason=reason, domain=ERROR_DOMAIN))
    number: int = code.value[0]
    status = status_pb2.Status(code=number, message=text, details=[details])
    return CallRefused(code, text, status.SerializeToString())


async def looked_up(answer: Awaitable[T]) -> T:
    """Await an answer of the server. Raises CallRefused with the gRPC status of its refusal or error."""
    try:
        return await answer
    except Unauthenticated as error:
        raise refused(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_UNKNOWN", str(error)) from error
    except NotPermitted as error:
        raise refused(grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED", str(error)) from error
    except errors.Refused as error:
        raise refused(STATUS[type(error)], _reason(type(error)), str(error)) from error
    except errors.StoreError as error:
        raise refused(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", str(error)) from error


def _reason(error: type[errors.Refused]) -> str:
    """Return the reason that an error's name gives: NAME_TAKEN for NameTaken."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", error.__name__).upper()
