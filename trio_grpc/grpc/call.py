"""A call from its handler's point of view: messages in both directions, metadata and a status, without frames and
sockets.

`grpc_stream` implements it over HTTP/2. `memory` implements it without a network, for tests under a virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import grpc
import trio

Received_co = TypeVar("Received_co", covariant=True)
Sent_contra = TypeVar("Sent_contra", contravariant=True)
SentT = TypeVar("SentT")


class CallRefused(Exception):  # noqa: N818 - a status for the peer, not an error of the program
    """Error that a handler raises to end its call with a status other than OK. The peer receives the text."""

    def __init__(self, code: grpc.StatusCode, text: str, details: bytes = b"") -> None:
        """`details` is a serialized `google.rpc.Status` for programs."""
        super().__init__(code, text)
        self.code = code
        self.text = text
        self.details = details


class PeerVanished(trio.BrokenResourceError):
    """The peer crashed, lost its connection or cancelled the call, or the server disconnected it."""


class Call(Protocol):
    """The common properties of unary and streaming calls."""

    @property
    def peer(self) -> str:
        """Address of the peer, such as "ipv4:127.0.0.1:40312"."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """Text headers of the call by lower-case name. Of repeated headers, only the last value is stored. Never log
        them: they may be secret.
        """

    def trust(self) -> None:
        """Lift the limits for unauthenticated peers and send the response headers. Call this when the handler has
        authenticated the peer.

        Some clients wait for the headers before they send anything.
        """


def bearer(call: Call) -> str:
    """Return the token from the header "authorization: Bearer TOKEN", or an empty string if there is no such header.

    The scheme is case-insensitive and may be followed by several spaces (RFC 9110, 11.1 and 11.4).
    """
    scheme, _, token = call.metadata.get("authorization", "").partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""


class Stream(Call, Protocol[Received_co, Sent_contra]):
    """A call with messages in both directions.

    One task may receive while another one sends; two tasks must neither receive nor send at the same time.
    """

    @property
    def received_at(self) -> float:
        """Time (`trio.current_time`) at which the message last returned by `receive` reached this process."""

    async def receive(self) -> Received_co | None:
        """Return the peer's next message; None once the peer has half-closed and all messages have been returned.

        Cancelling loses no message. Raises PeerVanished when the peer is gone, after all earlier messages have been
        returned. Raises CallRefused for a message that cannot be parsed; if the handler does not catch it, the call
        ends with INVALID_ARGUMENT.
        """

    async def send(self, message: Sent_contra) -> None:
        """Queue a message as soon as the previous one has been sent.

        The message is copied, so it may be changed afterwards.

        Cancelling before it is queued sends nothing. Raises PeerVanished when the peer is gone, ClosedResourceError
        when the handler has ended.
        """

    @property
    def busy(self) -> bool:
        """True if the previous message is still unsent. `send` would then wait."""

    def hand_over(self, message: Sent_contra) -> None:
        """Queue a message without waiting. Must not be called while the stream is busy."""

    def shortest_round_trip(self) -> float | None:
        """Return the shortest time, in seconds, that the peer's system needed in recent minutes to acknowledge bytes.

        Behind a proxy the value belongs to the proxy. Return None if our system does not report it.
        """

    async def deliver(self, on_message: Callable[[Received_co], None], on_sent: Callable[[], None]) -> None:
        """Call `on_message` with each message until the peer half-closes, and `on_sent` when a message has been sent.

        `on_message` is called in the task that reads the bytes, at most once in each turn of the listener.
        Raises the errors of `receive`, and any exception of `on_message`.
        """


SEND_LIMIT: Final = 30.0
"""Maximum time in seconds that a peer may leave a message unread before its call ends."""


async def send_within(stream: Stream[Any, SentT], message: SentT) -> None:
    """Send a message within `SEND_LIMIT`. Raises CallRefused with RESOURCE_EXHAUSTED if the peer does not read."""
    with trio.move_on_after(SEND_LIMIT) as limit:
        await stream.send(message)
    if limit.cancelled_caught:
        raise CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, f"nothing was read for {SEND_LIMIT:.0f} s")
