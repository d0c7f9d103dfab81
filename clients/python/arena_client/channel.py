"""Open a connection to a server, and explain its failures."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterable
from pathlib import Path

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from arena_client.errors import (
    ArenaError,
    ArgumentError,
    InvitationNeededError,
    NameNotAllowedError,
    NameTakenError,
    NoGameInCommonError,
    ProtocolMismatchError,
    RefusedError,
    TakenOverError,
    TokenRefusedError,
)
from arena_client.options import Tls
from arena_client.v1.play_pb2 import Node

_log = logging.getLogger("arena_client")

_OPTIONS = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # The option that newer versions use.
    ("grpc.use_local_subchannel_pool", 1),  # A new try is a new connection, without the old one's back-off.
    ("grpc.enable_retries", 0),
)


_COME_BACK = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED}
)
"""Statuses after which another try may succeed. Any other status with a reason is final."""
_FINAL = frozenset(
    {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION}
)
"""Statuses that are final even without a reason, in addition to those with their own error classes."""
LONGEST_PAUSE = 3600.0
"""Maximum pause that a server may request, in seconds. A longer pause must be a mistake."""
DEFAULT_PORT = 50051
"""The default port of a server."""
_ADDRESS = re.compile(r"(\[[^\[\]\s]+\]|[^:/\[\]\s]+):(\d{1,5})")
_SCHEMES = ("dns:", "ipv4:", "ipv6:", "unix:", "unix-abstract:", "vsock:", "xds:")
"""Prefixes of the other kinds of addresses that gRPC accepts."""


MOST_NODES = 64
"""Maximum number of nodes to which a bot connects."""
_GRPC_PREFIX = re.compile(r"^[A-Z_]+: (?:ipv4|ipv6):\S+: (?:Failed to connect to remote host: )?(?:connect: )?")
"""The text that gRPC puts before the reason: a status, the address and the attempted action."""


class DroppedError(Exception):
    """The connection is lost or was never open; another try may succeed."""

    pause = 0.0
    """Minimum number of seconds before the next try, as requested by the server."""


def checked_address(address: str) -> str:
    """Return an address that has a port; without one, gRPC would use port 443. Raises: ArgumentError: It has none."""
    if address.startswith(_SCHEMES) or ((parts := _ADDRESS.fullmatch(address)) and 0 < int(parts[2]) <= 65535):
        return address
    host = address if address and ":" not in address and "/" not in address else "HOST"
    raise ArgumentError(
        f"the address {address!r} is not of the form HOST:PORT; a server listens on port {DEFAULT_PORT} unless its "
        f"operator chose another: {host}:{DEFAULT_PORT}"
    )


def node_addresses(listed: Iterable[Node], reached: str) -> dict[int, str]:
    """Return the addresses in a server's list of nodes, by number. Skip unusable entries with a warning.

    `reached`: the address of the node that sent the list.
    """
    host, addresses, skipped = reached.rpartition(":")[0], dict[int, str](), list[str]()
    for each in listed:
        address = f"{host}{each.address}" if each.address.startswith(":") else each.address
        try:
            checked_address(address)
        except ArgumentError:
            why = "not HOST:PORT"
        else:
            if each.number == 0:
                why = "numbers start from 1"
            elif each.number in addresses or address in addresses.values():
                why = "its number or address is listed twice"
            elif len(addresses) == MOST_NODES:
                why = f"a bot connects to {MOST_NODES} nodes at most"
            else:
                addresses[each.number] = address
                continue
        skipped.append(f"node {each.number} at {each.address!r}: {why}")
    if skipped:
        more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
        _log.warning("skipped in the server's list of nodes: %s%s; please tell its operator", skipped[0], more)
    return addresses


def open_channel(address: str, tls: Tls) -> grpc.aio.Channel:
    """Open a channel to "host:port", which connects at the first call. Raises: OSError: Unreadable certificate."""
    if not tls:
        return grpc.aio.insecure_channel(address, options=_OPTIONS)
    roots = None if tls is True else Path(tls).read_bytes()
    return grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(roots), options=_OPTIONS)


def _one_line(details: str | None) -> str:
    # Skip gRPC's own introduction, which says that all addresses failed.
    text = (details or "no reason given").rpartition("last error: ")[2]
    return _GRPC_PREFIX.sub("", " ".join(text.split()))


def error_details(trailers: Iterable[tuple[str, str | bytes]] | None) -> tuple[str, float]:
    """Return the reason in the `google.rpc.ErrorInfo` of an ended call, and the pause in its `google.rpc.RetryInfo`.

    The reason is empty if the call has none. The pause is in seconds: at most an hour, 0 if the call has none.
    """
    reason, pause = "", 0.0
    for name, value in trailers or ():
        if name == "grpc-status-details-bin" and isinstance(value, bytes):
            with contextlib.suppress(DecodeError):
                for detail in status_pb2.Status.FromString(value).details:
                    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
                    if detail.Unpack(info):
                        reason = str(info.reason)
                    elif detail.Unpack(retry):
                        delay = retry.retry_delay
                        pause = min(LONGEST_PAUSE, max(0.0, float(delay.seconds + delay.nanos / 1e9)))
    return reason, pause


def play_failure(
    code: grpc.StatusCode, details: str | None, reason: str = "", pause: float = 0.0
) -> ArenaError | DroppedError:
    """Return the error for the end of a stream, with the server's `reason` and `pause` if known."""
    failure = _play_failure(code, _one_line(details), reason)
    if isinstance(failure, ArenaError):
        failure.reason = reason
    else:
        failure.pause = pause
    return failure


def registration_failure(
    code: grpc.StatusCode, details: str | None, reason: str = "", pause: float = 0.0
) -> ArenaError | DroppedError:
    """Return the error for a failed registration, with the server's `reason` and `pause` if known."""
    text = _one_line(details)
    failure: ArenaError
    match code:
        case grpc.StatusCode.ALREADY_EXISTS:
            failure = NameTakenError(
                f"{text}. If the bot is yours, give its token or token file; if it was deleted, or is not yours, "
                "register under another name"
            )
        case grpc.StatusCode.INVALID_ARGUMENT if reason == "TOKEN_NOT_ALLOWED":
            failure = TokenRefusedError(text)
        case grpc.StatusCode.INVALID_ARGUMENT:
            failure = NameNotAllowedError(text)
        case grpc.StatusCode.PERMISSION_DENIED if reason != "OWNER_BANNED":
            failure = InvitationNeededError(text)
        case _:
            return play_failure(code, details, reason, pause)
    failure.reason = reason
    return failure


def _play_failure(code: grpc.StatusCode, text: str, reason: str) -> ArenaError | DroppedError:
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and not reason:  # gRPC in this process raised it
        return ProtocolMismatchError(f"a message from the server is larger than this client accepts: {text}")
    if code in _COME_BACK:
        return DroppedError(f"{text} ({reason or code.name})")
    match reason:
        case "TAKEN_OVER":
            return TakenOverError(f"the bot is connected from somewhere else: {text}")
        case "NO_SUCH_GAME":
            return NoGameInCommonError(text)
        case "NO_CASUAL":
            return RefusedError(f"{text}; leave out casual=True (--casual) for rated matches")
    match code:
        case grpc.StatusCode.UNAUTHENTICATED:
            return TokenRefusedError(f"the server refuses the token: {text}")
        case grpc.StatusCode.UNIMPLEMENTED:
            return ProtocolMismatchError(
                f"this is no Arena server, or it speaks another version of the protocol: {text}"
            )
    if reason or code in _FINAL:
        return RefusedError(f"the server refuses the bot: {text}")
    return DroppedError(f"{text} ({code.name})")
