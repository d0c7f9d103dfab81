"""A call as a handler sees it: messages in, messages out, and how it ends. No frames, no sockets.

`grpc_stream` has the real one, `memory` one without a network, for tests under a virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

import grpc
import trio

Received_co = TypeVar("Received_co", covariant=True)
Sent_contra = TypeVar("Sent_contra", contravariant=True)


class Refused(Exception):  # noqa: N818 - a verdict, no failure of the program
    """Raised by a handler to end its call with a status; the text is shown to the peer."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text


class Vanished(trio.BrokenResourceError):
    """The peer is gone without a goodbye: it crashed, cancelled the call, or was cut off."""


class Call(Protocol):
    """What is known of any call."""

    @property
    def peer(self) -> str:
        """Address of the peer, such as "ipv4:127.0.0.1:40312"."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """The call's text headers, by lower-case name; of a repeated name the last. May hold secrets: never log it."""


def bearer(call: Call) -> str:
    """The token of a call that carries "authorization: Bearer TOKEN"; empty without one."""
    scheme, _, token = call.metadata.get("authorization", "").partition(" ")
    return token if scheme == "Bearer" else ""


class Stream(Call, Protocol[Received_co, Sent_contra]):
    """A call with messages in both directions. One task may receive while another sends; never two of a kind."""

    @property
    def received_at(self) -> float:
        """Instant (`trio.current_time`) at which the message last returned by `receive` reached this process."""

    async def receive(self) -> Received_co | None:
        """The peer's next message; None once it has said that there are no more.

        Cancelling loses no message. Raises Vanished when the peer is gone, once everything that arrived has been
        returned; Refused for a message that cannot be parsed: let it pass, and the call ends with INVALID_ARGUMENT.
        """

    async def send(self, message: Sent_contra) -> None:
        """Hand over one message, first waiting until the one before has left; the message may be changed afterwards.

        Cancelling before it is handed over sends nothing. Raises Vanished when the peer is gone, ClosedResourceError
        when the handler has ended.
        """

    @property
    def busy(self) -> bool:
        """Whether the message before has yet to leave, so that `send` would wait."""

    def hand_over(self, message: Sent_contra) -> None:
        """As `send`, for whoever knows that the stream is not busy."""

    async def deliver(self, take: Callable[[Received_co], None], left: Callable[[], None]) -> None:
        """As `receive` called for ever, until there are no more messages; but `take` is called where each one arrives.

        That costs no change of tasks. The next message is read once the turn of this one is over. `left` is called
        whenever a message that was sent has left. Raises what `receive` raises, and what `take` raises.
        """
