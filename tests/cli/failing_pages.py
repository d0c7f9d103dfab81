"""Pages over a data source that fails in unexpected ways. `python -m tests.cli.failing_pages` prints the pages'
address.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from typing import Any, cast

from starlette.websockets import WebSocket

from arena.stderr import log_to_stderr
from arena.web.answers.addresses import Addresses
from arena.web.requests.each_request import RequestRules
from arena.web.serving import run
from trio_grpc.http2.proxy_protocol import networks
from trio_grpc.http2.sockets import bind, bound

OPENS_FIRST = "192.0.2.9"
"""The address at which WebSockets open before they fail."""


def broken() -> AbstractContextManager[Any]:
    raise ZeroDivisionError("nobody expected this")


async def play(socket: WebSocket) -> None:
    if socket.client is not None and socket.client.host == OPENS_FIRST:
        await socket.accept()
    broken()


if __name__ == "__main__":
    log_to_stderr(level=logging.WARNING)
    rules = RequestRules(proxies=networks("127.0.0.1"), addresses=Addresses("http://arena.example"))
    sockets = bind("127.0.0.1:0")
    address = f"http://{bound(sockets)}/"
    run(broken, sockets, lambda: print(address, flush=True), rules, play_socket=cast("Any", play))
