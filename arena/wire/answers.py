"""What the answers of all services have in common: statuses of refusals, instants, and a deadline for every write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import grpc
import trio
from google.protobuf.timestamp_pb2 import Timestamp

from arena.store import errors
from arena.wire.stream import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Any, TypeVar

    from arena.wire.stream import Stream

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
"""Of a match; larger ones cannot be stored."""
SEND_LIMIT: Final = 30.0
"""Seconds a peer may leave a message unread before its call is ended."""


async def looked_up(answer: Awaitable[T]) -> T:
    """What the store says, or the status for its refusal."""
    try:
        return await answer
    except errors.Refused as refused:
        raise Refused(STATUS[type(refused)], str(refused)) from refused
    except errors.StoreError as error:
        raise Refused(grpc.StatusCode.UNAVAILABLE, str(error)) from error


async def send_within(stream: Stream[Any, T], message: T) -> None:
    """Sends to whoever reads; refuses whoever does not."""
    with trio.move_on_after(SEND_LIMIT) as limit:
        await stream.send(message)
    if limit.cancelled_caught:
        raise Refused(grpc.StatusCode.DEADLINE_EXCEEDED, f"nothing was read for {SEND_LIMIT:.0f} s")


def timestamp(instant: int) -> Timestamp:
    """An instant in microseconds since 1970."""
    seconds, micros = divmod(instant, 1_000_000)
    return Timestamp(seconds=seconds, nanos=micros * 1000)
