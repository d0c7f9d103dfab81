"""An echo server for tests that attack it; it prints its address, and logs to standard error.

    loaded_server_program.py [CERTIFICATE KEY]

`Say` echoes messages to clients with the token. `Get` sends a text of some kilobytes to any client.
"""

import logging
import sys
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import structlog
import trio
from grpc_health.v1 import health_pb2_grpc

sys.path.insert(0, ".")
from tests.trio_grpc.echo import NAME, EchoStream, Item, service
from trio_grpc.grpc.call import CallRefused, bearer
from trio_grpc.grpc.health import Health
from trio_grpc.grpc.server import Service, serve
from trio_grpc.http2.tls import load_credentials


class Echo:
    async def Get(self, _: Item, __: object) -> Item:
        return Item(text="text " * 1000)

    async def Say(self, stream: EchoStream) -> None:
        if bearer(stream) != "token":
            raise CallRefused(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        stream.trust()
        while (item := await stream.receive()) is not None:
            await stream.send(item)


async def main() -> None:
    health = Service(health_pb2_grpc.add_HealthServicer_to_server, Health([NAME], trio.Event()))
    files = [Path(word) for word in sys.argv[1:]]
    options: dict[str, Any] = {"credentials": load_credentials(*files)} if files else {}
    async with trio.open_nursery() as nursery:
        port = await nursery.start(partial(serve, [service(Echo()), health], "127.0.0.1:0", **options))
        print(f"127.0.0.1:{port}", flush=True)


structlog.configure(
    processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()],
    logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
)
trio.run(main)
