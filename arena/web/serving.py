"""Serving the pages until a signal ends it."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable, Iterable
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import trio
from anycorn import Config, serve

from arena.web.application import application
from arena.web.live.event_stream import raise_file_limit
from arena.web.live.feed import Servers
from arena.web.playing.play_socket import LARGEST_FRAME, PlaySocket
from arena.web.reading.reader import OpenSource
from arena.web.requests.connections import Connections, serve_by
from arena.web.requests.each_request import USUAL, RequestRules

GRACE: Final = 3.0
"""Maximum number of seconds for running requests to end after a signal."""
UNREAD_LIMIT: Final = 20.0
"""Seconds after which a client that reads nothing is disconnected, if the system can detect it (Linux)."""
UNREAD_BYTES: Final = 1 << 18
"""Approximate number of a response's bytes that the system buffers for a reader."""


def run(
    open_source: OpenSource,
    sockets: Iterable[socket.socket],
    ready: Callable[[], None],
    rules: RequestRules = USUAL,
    servers: Servers = MappingProxyType({}),
    play_socket: PlaySocket | None = None,
) -> None:
    """Serve the pages on listening sockets until SIGINT or SIGTERM. Call `ready` when they respond.

    `servers` and `play_socket` are those of `application`.
    """
    raise_file_limit()
    serve_by(Connections(rules.proxies))
    config = configured(sockets)
    pages = application(open_source, rules, servers, play_socket)
    gc.collect()
    gc.freeze()  # Otherwise garbage collection of the initial objects sometimes delays a page by 70 ms.
    gc.set_threshold(20_000, 20, 50)
    trio.run(_serve, pages, config, ready)


def configured(sockets: Iterable[socket.socket]) -> Config:
    """Take over the listening sockets. Return the configuration for serving on them."""
    for each in sockets:  # Accepted connections inherit these options.
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * UNREAD_LIMIT))
    config = Config()
    config.bind = [f"fd://{each.detach()}" for each in sockets]
    config.include_server_header = False
    config.graceful_timeout = GRACE
    config.loglevel = "WARNING"
    # Otherwise a client that reads nothing occupies memory for a hundred responses.
    config.h2_max_concurrent_streams = 1
    config.websocket_max_message_size = LARGEST_FRAME
    config.websocket_permessage_deflate = False  # Small messages could unpack to huge ones.
    return config


async def _serve(pages: Any, config: Config, ready: Callable[[], None]) -> None:
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stopped, stop)
        await nursery.start(partial(serve, pages, config, shutdown_trigger=stop.wait))
        ready()
        await stop.wait()
        nursery.cancel_scope.deadline = trio.current_time() + 2 * GRACE


async def _stopped(stop: trio.Event) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            stop.set()
            return
