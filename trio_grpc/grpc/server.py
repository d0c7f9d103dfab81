"""A gRPC server on trio: handlers are trio coroutine functions, and the server runs inside a trio task.

It handles the beginning and the end of calls: methods, metadata, deadlines, statuses. `listener` handles the sockets,
`http2` the frames, and `grpc_stream` the messages. KeyboardInterrupt must not be raised at arbitrary points of the
process: use `trio.open_signal_receiver`.
"""

from __future__ import annotations

import re
import ssl
import traceback
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import grpc
import structlog
import trio

from trio_grpc.grpc.call import CallRefused, PeerVanished
from trio_grpc.grpc.grpc_stream import GrpcStream, incomplete
from trio_grpc.grpc.refusals import explained, over_budget
from trio_grpc.http2.connection import Connection
from trio_grpc.http2.http2 import Http2Connection
from trio_grpc.http2.http2_stream import Headers, Http2Stream
from trio_grpc.http2.listener import NO_CONTEXT, Listener, TurnContext
from trio_grpc.limits.connection_limits import Origin
from trio_grpc.limits.settings import TransportSettings
from trio_grpc.limits.work_budget import metered

FAILED: Final = CallRefused(
    grpc.StatusCode.INTERNAL, "the server failed to answer; this is a bug of the server, not of the client"
)
PEER_GONE: Final = CallRefused(grpc.StatusCode.CANCELLED, "the peer is gone")
DEADLINE_PASSED: Final = CallRefused(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline of the call has passed")

TIMEOUT: Final = re.compile(r"(\d{1,8})([HMSmun])")
UNITS: Final = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
"""The units of the header "grpc-timeout", in seconds."""
EXPECTED_WORK: Final = 0.001
"""Expected processor time in seconds of a call to a method until a first call to it has ended."""
MEMORY_OF_WORK: Final = 8
"""Approximate number of recent calls in the moving mean that predicts the cost of a method's next call."""
CREDIT_FOR_TOKEN: Final = 10.0
"""Number of seconds. An origin without remaining budget may still open a call with an unchecked token if the budget
recovers within this time.
"""
REFUSAL_COST: Final = 200
"""Number of useless frames charged for a call that is refused because the budget is used up."""
STOPPING_WAIT: Final = 1.0
"""Number of seconds after which clients of a stopping server may try again."""
ENCODINGS: Final = ("", "identity", "gzip")
CONTENT_TYPE: Final = re.compile(r"application/grpc(\+proto)?\s*(;.*)?", re.IGNORECASE)
"""The content type of gRPC calls. The server refuses other protocols, such as gRPC-Web."""

log = structlog.get_logger(__name__)


class Service(NamedTuple):
    """A gRPC service whose methods are trio coroutine functions, named as in the proto file.

    Unary: `async def Get(request, call) -> response`. Server stream: `async def Watch(request, stream) -> None`, which
    only sends. Both are cancelled when the peer vanishes. Bidirectional: `async def Play(stream) -> None`; when the
    peer vanishes, its `receive` and `send` raise PeerVanished.

    A handler that returns ends its call with OK. CallRefused ends it with the given status, any other exception with
    INTERNAL and a line in the log. Messages sent earlier arrive before the status. Responses are messages or
    serialized messages.
    """

    register: Callable[[Any, Any], None]
    """The generated function `add_…Servicer_to_server`."""
    servicer: object
    as_bytes: bool = False
    """True if handlers receive requests as bytes and parse them themselves."""


async def serve(
    services: Iterable[Service],
    address: str,
    *,
    settings: TransportSettings = TransportSettings(),  # noqa: B008 - frozen
    credentials: ssl.SSLContext | None = None,
    turn: TurnContext = NO_CONTEXT,
    grace: float = 1.0,
    error_domain: str = "",
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled; `nursery.start` returns the number of the bound port.

    `address` is "host:port" (port 0 for any free port) or "unix:PATH". `turn` is entered around the handling of each
    turn's input. Cancelling refuses new calls and cancels the handlers, whose calls end with UNAVAILABLE; connections
    that are still open after `grace` seconds are closed. `error_domain` is the domain of the server's own
    `google.rpc.ErrorInfo`. Raises RuntimeError if the address cannot be bound, TypeError for a method that only streams
    requests.
    """
    methods = _MethodRegistry()
    for service in services:
        methods.as_bytes = service.as_bytes
        service.register(service.servicer, methods)
    listener = Listener(address, settings, credentials, turn)
    listening = trio.CancelScope(shield=True)  # End calls with a status while their handlers are being cancelled.
    try:
        async with trio.open_nursery() as nursery:
            calls = _Calls(methods.by_path, listener, nursery, error_domain)

            async def listen() -> None:
                with listening:
                    await listener.run(calls.accept_request)

            nursery.start_soon(listen)
            try:
                task_status.started(listener.port)
                await trio.sleep_forever()
            finally:
                calls.close()
                listener.close()
                with trio.move_on_after(grace, shield=True):
                    await listener.drained.wait()
                listening.cancel()
    finally:
        listener.finish()


class _Method(NamedTuple):
    handler: Callable[..., Coroutine[Any, Any, Any]]
    streams_requests: bool
    streams_responses: bool
    parse: Callable[[bytes], Any]
    serialize: Callable[[Any], bytes]


class _MethodRegistry:
    """The part of `grpc.Server` with which generated code registers a service. It collects the service's methods."""

    def __init__(self) -> None:
        self.by_path: dict[str, _Method] = {}
        """Methods by ":path", such as "/package.Service/Method"."""
        self.as_bytes = False

    def add_generic_rpc_handlers(self, _: object) -> None:
        """Do nothing: generated code also registers every method by `add_registered_method_handlers`."""

    def add_registered_method_handlers(
        self, service: str, methods: Mapping[str, grpc.RpcMethodHandler[Any, Any]]
    ) -> None:
        for name, method in methods.items():
            streams_requests, streams_responses = method.request_streaming, method.response_streaming
            if streams_requests and not streams_responses:
                raise TypeError(f"/{service}/{name}: calls that stream requests only are not served")
            handler: Any = method.stream_stream or method.unary_stream or method.unary_unary
            parse = None if self.as_bytes else method.request_deserializer
            self.by_path[f"/{service}/{name}"] = _Method(
                handler, streams_requests, streams_responses, parse or bytes, method.response_serializer or bytes
            )


class _Calls:
    """The open calls, each with its handler's task."""

    def __init__(
        self, methods: Mapping[str, _Method], listener: Listener, nursery: trio.Nursery, error_domain: str
    ) -> None:
        self._methods = methods
        self._listener = listener
        self._nursery = nursery
        self._error_domain = error_domain
        self._stopping = explained(
            grpc.StatusCode.UNAVAILABLE, "the server is stopping", "STOPPING", error_domain, STOPPING_WAIT
        )
        self._open: set[GrpcStream] = set()
        self._expected_work: dict[str, float] = {}
        """Expected processor time in seconds of a call without a valid token, by path of the method."""
        self._closed = False

    def close(self) -> None:
        """Refuse new calls and cancel every handler."""
        self._closed = True
        for stream in self._open:
            stream.scope.cancel()

    def accept_request(
        self, connection: Connection, http2: Http2Connection, stream_id: int, headers: Headers
    ) -> Http2Stream:
        """Create the stream of a request. Start its handler, or set the response that refuses it."""
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
        method = self._methods.get(fields.get(":path", ""))
        metadata = {name: value for name, value in fields.items() if not name.startswith(":") and name[-4:] != "-bin"}
        origin = self._listener.work.origin_of(metadata, connection.origin)
        # The size of a header list includes 32 additional bytes for each header (RFC 9113, 6.5.2).
        size = sum(32 + len(name) + len(value) for name, value in headers)
        stream = GrpcStream(
            self._listener,
            http2,
            stream_id,
            connection.peer,
            metadata,
            bytes if method is None else method.parse,
            bytes if method is None else method.serialize,
            origin,
            size,
            connection.shortest_round_trip,
        )
        refusal = self._refusal(fields, method, size) or self._budget_refusal(http2, metadata, origin)
        if fields.get(":method") != "POST":
            stream.respond_at_once = partial(stream.end, ((b":status", b"405"),))
        elif CONTENT_TYPE.fullmatch(fields.get("content-type", "")) is None:
            stream.respond_at_once = partial(stream.end, ((b":status", b"415"),))
        elif refusal is not None:
            stream.respond_at_once = partial(stream.close, refusal.code, refusal.text, details=refusal.details)
        else:
            assert method is not None
            self._start(fields[":path"], method, stream, _seconds(fields.get("grpc-timeout", "")))
        return stream

    def _refusal(self, fields: Mapping[str, str], method: _Method | None, size: int) -> CallRefused | None:
        """Return the status with which to refuse a request, or None if the request is accepted."""
        code, max_metadata = grpc.StatusCode, self._listener.settings.max_metadata
        if self._closed:
            return self._stopping
        if size > max_metadata:
            return CallRefused(code.RESOURCE_EXHAUSTED, f"the metadata has at most {max_metadata} bytes, not {size}")
        if method is None:
            return CallRefused(code.UNIMPLEMENTED, f"there is no method {fields.get(':path', '')[:200]} here")
        if fields.get("grpc-encoding", "") not in ENCODINGS:
            return CallRefused(code.UNIMPLEMENTED, "messages may be compressed with gzip, or not at all")
        return None

    def _budget_refusal(
        self, http2: Http2Connection, metadata: Mapping[str, str], origin: Origin
    ) -> CallRefused | None:
        """Return the refusal of a call whose origin has used up its budget. Return None if there is budget or credit
        left.

        A call with an unchecked token has a credit of `CREDIT_FOR_TOKEN`.

        Raises:
            Http2Error: the connection makes too many refused calls.
        """
        wait = self._listener.work.wait(origin, self._listener.now)
        if wait <= (CREDIT_FOR_TOKEN if "authorization" in metadata else 0.0):
            return None
        http2.charge_useless_frame(REFUSAL_COST)
        return over_budget(wait, self._listener.settings.work_untrusted, self._error_domain)

    def _start(self, path: str, method: _Method, stream: GrpcStream, timeout: float | None) -> None:
        handler: Callable[[], Coroutine[Any, Any, Any]]
        if method.streams_requests:
            handler = partial(method.handler, stream)
            if timeout is not None:
                self._nursery.start_soon(self._enforce_deadline, stream, timeout)
        else:
            handler = partial(self._handle_one_request, method, stream)
            stream.on_vanished = stream.scope.cancel
            if timeout is not None:
                stream.scope.deadline = self._listener.now + timeout
        self._open.add(stream)
        stream.reserve(self._expected_work.get(path, EXPECTED_WORK))
        self._nursery.start_soon(self._run, path, handler, stream)

    async def _handle_one_request(self, method: _Method, stream: GrpcStream) -> None:
        """Handle a unary or server stream call."""
        request: Any = None
        request_timeout = self._listener.settings.request_timeout
        with trio.move_on_after(request_timeout) as waiting:
            request = await stream.receive()
        if waiting.cancelled_caught:
            raise incomplete(request_timeout)
        if request is None:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, "the request is missing")
        response = await method.handler(request, stream)
        if not method.streams_responses:
            stream.hand_over(response)

    async def _run(self, path: str, handler: Callable[[], Coroutine[Any, Any, Any]], stream: GrpcStream) -> None:
        """Run the handler of a call to its end. Close the call with the resulting status."""
        refusal: CallRefused | None = self._stopping
        try:
            with stream.scope:
                await metered(handler(), stream.charge)
                refusal = None
            if stream.scope.cancelled_caught and trio.current_time() >= stream.scope.deadline:
                refusal = DEADLINE_PASSED
        except Exception as error:  # noqa: BLE001 - no exception of a handler may stop the server
            # The traceback refers to this frame and would keep the request alive until a garbage collection.
            refusal = _refusal_for(path, error).with_traceback(None)
        self._open.discard(stream)
        stream.timer.cancel()
        self._settle(path, stream)
        if refusal is None:
            stream.close(grpc.StatusCode.OK)
        else:
            stream.close(refusal.code, refusal.text, details=refusal.details)

    def _settle(self, path: str, stream: GrpcStream) -> None:
        """Refund a call's unused reservation, and update the expected time of the method's calls."""
        stream.reserve(0.0)
        if not stream.trusted:
            expected = self._expected_work.get(path, EXPECTED_WORK)
            self._expected_work[path] = expected + (stream.charged - expected) / MEMORY_OF_WORK
            self._listener.work.forget(stream.metadata)

    async def _enforce_deadline(self, stream: GrpcStream, timeout: float) -> None:
        """Close a bidirectional call after `timeout` seconds. Its handler gets PeerVanished."""
        with stream.timer:
            await trio.sleep(timeout)
            stream.close(DEADLINE_PASSED.code, DEADLINE_PASSED.text, PeerVanished)


def _seconds(timeout: str) -> float | None:
    """Parse a header "grpc-timeout", such as "200m" for 200 ms. Return None for an empty or malformed header."""
    found = TIMEOUT.fullmatch(timeout)
    return None if found is None else int(found[1]) * UNITS[found[2]]


def _refusal_for(path: str, error: Exception) -> CallRefused:
    """Return the status for a handler's exception. Log the exception unless it is CallRefused or PeerVanished."""
    leaves = [error]
    for leaf in leaves:
        if isinstance(leaf, ExceptionGroup):
            leaves.extend(leaf.exceptions)
    known = [leaf for leaf in leaves if isinstance(leaf, CallRefused | PeerVanished)]
    if len(known) + sum(isinstance(leaf, ExceptionGroup) for leaf in leaves) < len(leaves):
        # Use plain text, because pretty printers of exceptions show local variables, which may contain secrets.
        log.error("a handler failed", method=path, traceback="".join(traceback.format_exception(error)))
        return FAILED
    return next((leaf for leaf in known if isinstance(leaf, CallRefused)), PEER_GONE)
