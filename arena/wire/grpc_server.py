"""A gRPC server in trio: handlers are trio coroutine functions, and the server runs inside a trio task.

`port` has the sockets, `http2` the frames, `grpc_stream` the messages of a call; here is what a call begins and ends
with: methods, metadata, deadlines, statuses. The process must not have KeyboardInterrupt raised into it at random: use
`trio.open_signal_receiver`.
"""

from __future__ import annotations

import re
import ssl
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import grpc
import structlog
import trio

from arena.wire.grpc_stream import GrpcStream
from arena.wire.http2 import Http2Connection
from arena.wire.http2_stream import Headers, Http2Stream
from arena.wire.line import Line
from arena.wire.port import NO_TURN, Port, Turn
from arena.wire.settings import Settings
from arena.wire.stream import Refused, Vanished

STOPPING: Final = Refused(grpc.StatusCode.UNAVAILABLE, "the server is stopping")
FAILED: Final = Refused(
    grpc.StatusCode.INTERNAL, "the server failed to answer; this is a bug of the server, not of the bot"
)
GONE: Final = Refused(grpc.StatusCode.CANCELLED, "the peer is gone")
LATE: Final = Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline of the call is over")

TIMEOUT: Final = re.compile(r"(\d{1,8})([HMSmun])")
UNITS: Final = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
ENCODINGS: Final = ("", "identity", "gzip")

log = structlog.get_logger(__name__)


class Service(NamedTuple):
    """A gRPC service whose methods are trio coroutine functions, named as in the proto file.

    Unary: `async def Get(request, call) -> response`. Server stream: `async def Watch(request, stream) -> None`, where
    only `stream.send` is of use; both are cancelled when the peer vanishes. Bidirectional:
    `async def Play(stream) -> None`; it learns of the peer's end from `receive` and `send`.

    Returning ends the call well; raising Refused ends it with that status, any other exception with INTERNAL and a line
    in the log. What was sent before arrives before. Responses are messages, or their bytes.
    """

    register: Callable[[Any, Any], None]
    """The generated `add_…Servicer_to_server`."""
    servicer: object
    as_bytes: bool = False
    """Whether the handlers are given requests as they came, to parse them themselves."""


async def serve(
    services: Iterable[Service],
    address: str,
    *,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    credentials: ssl.SSLContext | None = None,
    turn: Turn = NO_TURN,
    grace: float = 1.0,
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled; the started value is the bound port.

    `address` is "host:port", port 0 for any free one; `turn` is entered around the handling of what arrived together.
    Cancelling refuses new calls and cancels the handlers, whose calls end with UNAVAILABLE; what a peer has not taken
    within `grace` seconds is dropped. Raises RuntimeError where the address cannot be bound.
    """
    methods = _Methods()
    for service in services:
        methods.as_bytes = service.as_bytes
        service.register(service.servicer, methods)
    port = Port(address, settings, credentials, turn)
    life = trio.CancelScope(shield=True)  # while the rest is being cancelled the calls are ended properly
    async with trio.open_nursery() as nursery:
        calls = _Calls(methods.known, port, nursery)

        async def live() -> None:
            with life:
                await port.run(calls.accept)

        nursery.start_soon(live)
        try:
            task_status.started(port.number)
            await trio.sleep_forever()
        finally:
            calls.close()
            port.close()
            with trio.move_on_after(grace, shield=True):
                await port.empty.wait()
            life.cancel()


class _Method(NamedTuple):
    """What is called, what streams, and how requests are made of bytes and bytes of responses."""

    handler: Callable[..., Awaitable[Any]]
    asks: bool
    """It has many requests."""
    answers: bool
    """It has many responses."""
    parse: Callable[[bytes], Any]
    serialize: Callable[[Any], bytes]


class _Methods:
    """Stands in for the server where generated code registers a service."""

    def __init__(self) -> None:
        self.known: dict[str, _Method] = {}
        self.as_bytes = False

    def add_generic_rpc_handlers(self, _: object) -> None:
        """Nothing: generated code registers every method in both ways."""

    def add_registered_method_handlers(
        self, service: str, methods: Mapping[str, grpc.RpcMethodHandler[Any, Any]]
    ) -> None:
        for name, method in methods.items():
            asks, answers = method.request_streaming, method.response_streaming
            if asks and not answers:
                raise TypeError(f"/{service}/{name}: calls that stream requests only are not served")
            handler: Any = method.stream_stream or method.unary_stream or method.unary_unary
            parse = None if self.as_bytes else method.request_deserializer
            self.known[f"/{service}/{name}"] = _Method(
                handler, asks, answers, parse or bytes, method.response_serializer or bytes
            )


class _Calls:
    """The calls that are open, each with its handler."""

    def __init__(self, methods: Mapping[str, _Method], port: Port, nursery: trio.Nursery) -> None:
        self._methods = methods
        self._port = port
        self._nursery = nursery
        self._open: set[GrpcStream] = set()
        self._closed = False

    def close(self) -> None:
        """Cancel every handler, and let no more calls in."""
        self._closed = True
        for stream in self._open:
            stream.scope.cancel()

    def accept(self, line: Line, connection: Http2Connection, number: int, headers: Headers) -> Http2Stream:
        """The stream of a request, with its handler started or its refusal on the way."""
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
        method = self._methods.get(fields.get(":path", ""))
        metadata = {name: value for name, value in fields.items() if not name.startswith(":") and name[-4:] != "-bin"}
        stream = GrpcStream(
            self._port,
            connection,
            number,
            line.peer,
            metadata,
            bytes if method is None else method.parse,
            bytes if method is None else method.serialize,
        )
        refusal = self._refusal(fields, method, sum(32 + len(name) + len(value) for name, value in headers))
        if fields.get(":method") != "POST":
            stream.first = partial(stream.end, ((b":status", b"405"),))
        elif not fields.get("content-type", "").startswith("application/grpc"):
            stream.first = partial(stream.end, ((b":status", b"415"),))
        elif refusal is not None:
            stream.first = partial(stream.close, refusal.code, refusal.text)
        else:
            assert method is not None
            self._begin(fields[":path"], method, stream, _seconds(fields.get("grpc-timeout", "")))
        return stream

    def _refusal(self, fields: Mapping[str, str], method: _Method | None, size: int) -> Refused | None:
        """Why a call is not taken."""
        code, most = grpc.StatusCode, self._port.settings.max_metadata
        if self._closed:
            return STOPPING
        if size > most:
            return Refused(code.RESOURCE_EXHAUSTED, f"the metadata has at most {most} bytes, not {size}")
        if method is None:
            return Refused(code.UNIMPLEMENTED, f"there is no method {fields.get(':path', '')[:200]} here")
        if fields.get("grpc-encoding", "") not in ENCODINGS:
            return Refused(code.UNIMPLEMENTED, "messages may be compressed with gzip, or not at all")
        return None

    def _begin(self, name: str, method: _Method, stream: GrpcStream, seconds: float | None) -> None:
        handler: Callable[[], Awaitable[Any]]
        if method.asks:
            handler = partial(method.handler, stream)
            if seconds is not None:
                self._nursery.start_soon(self._expire, stream, seconds)
        else:
            handler = partial(self._answer, method, stream)
            stream.vanished = stream.scope.cancel
            if seconds is not None:
                stream.scope.deadline = self._port.now + seconds
        self._open.add(stream)
        self._nursery.start_soon(self._handle, name, handler, stream)

    async def _answer(self, method: _Method, stream: GrpcStream) -> None:
        """A call with one request."""
        request = await stream.receive()
        if request is None:
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "the request is missing")
        response = await method.handler(request, stream)
        if not method.answers:
            stream.hand_over(response)

    async def _handle(self, name: str, handler: Callable[[], Awaitable[Any]], stream: GrpcStream) -> None:
        """The task of a call: the handler, and what its end means for the peer."""
        verdict: Refused | None = STOPPING
        try:
            with stream.scope:
                await handler()
                verdict = None
            if stream.scope.cancelled_caught and trio.current_time() >= stream.scope.deadline:
                verdict = LATE
        except Exception as error:  # noqa: BLE001 - whatever a handler does, the server lives
            verdict = _verdict(name, error)
        self._open.discard(stream)
        stream.timer.cancel()
        if verdict is None:
            stream.close(grpc.StatusCode.OK)
        else:
            stream.close(verdict.code, verdict.text)

    async def _expire(self, stream: GrpcStream, seconds: float) -> None:
        """A conversation whose deadline is over is broken off: its handler cannot tell it from a peer that vanished."""
        with stream.timer:
            await trio.sleep(seconds)
            stream.close(LATE.code, LATE.text, Vanished)


def _seconds(timeout: str) -> float | None:
    """Of the header "grpc-timeout", such as "200m"; None where there is none that can be understood."""
    found = TIMEOUT.fullmatch(timeout)
    return None if found is None else int(found[1]) * UNITS[found[2]]


def _verdict(method: str, error: Exception) -> Refused:
    """The status a handler's exception ends its call with; what nobody intended is logged."""
    leaves = [error]
    for leaf in leaves:
        if isinstance(leaf, ExceptionGroup):
            leaves.extend(leaf.exceptions)
    known = [leaf for leaf in leaves if isinstance(leaf, Refused | Vanished)]
    if len(known) + sum(isinstance(leaf, ExceptionGroup) for leaf in leaves) < len(leaves):
        # Plain text: pretty printers of exceptions show local variables, and those hold secrets.
        log.error("a handler failed", method=method, traceback="".join(traceback.format_exception(error)))
        return FAILED
    return next((leaf for leaf in known if isinstance(leaf, Refused)), GONE)
