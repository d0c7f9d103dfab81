"""gRPC in a trio program: handlers are trio coroutine functions, and a server runs inside a trio task.

asyncio tasks (`nested_loop`) exist only to set calls up and down; what happens inside a call is stepped from trio
(`grpc_stream`). One server a process at a time. The process must not have KeyboardInterrupt raised into it at random:
use `trio.open_signal_receiver`.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import grpc
import structlog
import trio
from google.protobuf.message import DecodeError

from arena.wire.grpc_stream import MALFORMED, GrpcStream
from arena.wire.nested_loop import NO_TURN, NestedLoop, Turn, nested_loop
from arena.wire.settings import Settings
from arena.wire.stream import Refused, Vanished

STOPPING: Final = Refused(grpc.StatusCode.UNAVAILABLE, "the server is stopping")
FAILED: Final = Refused(
    grpc.StatusCode.INTERNAL, "the server failed to answer; this is a bug of the server, not of the bot"
)
GONE: Final = Refused(grpc.StatusCode.CANCELLED, "the peer is gone")

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


async def serve(
    services: Iterable[Service],
    address: str,
    *,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    credentials: grpc.ServerCredentials | None = None,
    stock: Iterable[Callable[[grpc.aio.Server], None]] = (),
    turn: Turn = NO_TURN,
    grace: float = 1.0,
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled; the started value is the bound port.

    `address` is "host:port", port 0 for any free one; `stock` registers ready-made asyncio servicers such as health and
    reflection; `turn` is entered around the handling of what arrived together. Cancelling refuses new calls and cancels
    the handlers, whose calls end with UNAVAILABLE; what a peer has not taken within `grace` seconds is dropped. Raises
    RuntimeError where the address cannot be bound or another server is running.
    """
    async with nested_loop(turn) as loop:
        doors = _Doors(loop)

        async def open_doors() -> tuple[grpc.aio.Server, int]:
            server = grpc.aio.server(options=settings.options())
            for service in services:
                service.register(service.servicer, _Registrar(server, doors))
            for register in stock:
                register(server)
            port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
            await server.start()
            return server, port

        with trio.CancelScope(shield=True):  # quick, and a server half open could not be closed
            server, port = await loop.run(open_doors())
        try:
            task_status.started(port)
            await trio.sleep_forever()
        finally:
            doors.close()
            # Never needed unless the loop itself is broken.
            with trio.move_on_after(2 * grace + 1, shield=True):
                await loop.run(server.stop(grace))
                await loop.settle(grace)


class _Doors:
    """The calls that are open, each with its handler."""

    def __init__(self, loop: NestedLoop) -> None:
        self._loop = loop
        self._open: set[GrpcStream] = set()
        self._closed = False

    def close(self) -> None:
        """Cancel every handler, and let no more calls in."""
        self._closed = True
        for stream in self._open:
            stream.scope.cancel()

    def method(self, name: str, method: grpc.RpcMethodHandler[Any, Any]) -> grpc.RpcMethodHandler[Any, Any]:
        """The same method for grpc.aio, its handler a trio one."""
        parse = partial(_parse, method.request_deserializer or bytes)
        make: Callable[..., grpc.RpcMethodHandler[Any, Any]]
        handler: Any  # generated types know no trio
        match method.request_streaming, method.response_streaming:
            case True, True:
                make, handler = grpc.stream_stream_rpc_method_handler, method.stream_stream
            case False, True:
                make, handler = grpc.unary_stream_rpc_method_handler, method.unary_stream
            case False, False:
                make, handler = grpc.unary_unary_rpc_method_handler, method.unary_unary
            case _:
                raise TypeError(f"{name}: the bridge has no calls that stream requests only")

        async def rpc(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            stream = GrpcStream(lambda: self._loop.stepped_at, self._loop.after_turn, context)
            if method.request_streaming:
                stream.read()
            elif request is MALFORMED:
                await context.abort(MALFORMED.code, MALFORMED.text)
            if self._closed:
                await context.abort(STOPPING.code, STOPPING.text)
            work = partial(handler, *((stream,) if method.request_streaming else (request, stream)))
            outcome = self._loop.create_future()
            self._open.add(stream)
            self._loop.nursery.start_soon(self._handle, name, work, stream, outcome)
            try:
                result = await outcome
            except BaseException:  # asyncio's Cancelled: the peer vanished, or the grace is over
                stream.end(Vanished)
                if not method.request_streaming:
                    stream.scope.cancel()
                raise
            if isinstance(result, Refused):
                await context.abort(result.code, result.text)
            return result

        return make(rpc, parse, partial(_write, method.response_serializer or bytes))

    async def _handle(self, name: str, handler: Callable[[], Awaitable[Any]], stream: GrpcStream, outcome: Any) -> None:
        """The trio task of a call: the handler, and what its end means for the peer."""
        result: Any = STOPPING
        try:
            with stream.scope:
                result = await handler()
        except Exception as error:  # noqa: BLE001 - whatever a handler does, the server lives
            result = _verdict(name, error)
        finally:
            self._open.discard(stream)
        await stream.opened()
        stream.end(trio.ClosedResourceError)
        if not outcome.done():
            outcome.set_result(result)


class _Registrar:
    """Stands in for the server where generated code registers a service, and lets every method through the doors."""

    def __init__(self, server: grpc.aio.Server, doors: _Doors) -> None:
        self._server = server
        self._doors = doors

    def add_generic_rpc_handlers(self, _: object) -> None:
        """Nothing: generated code registers every method in both ways."""

    def add_registered_method_handlers(
        self, service: str, methods: Mapping[str, grpc.RpcMethodHandler[Any, Any]]
    ) -> None:
        self._server.add_registered_method_handlers(
            service, {name: self._doors.method(f"/{service}/{name}", method) for name, method in methods.items()}
        )


def _parse(parse: Callable[[bytes], Any], message: bytes) -> Any:
    """The message, or MALFORMED in its place: grpc would answer an exception with its text."""
    try:
        return parse(message)
    except DecodeError:
        return MALFORMED


def _write(serialize: Callable[[Any], bytes], message: Any) -> bytes:
    """The bytes of a message, where the handler did not make them itself."""
    return message if isinstance(message, bytes) else serialize(message)


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
