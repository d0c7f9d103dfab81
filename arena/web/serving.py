"""Serves the pages until a signal ends them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import trio
from anycorn import Config, serve

from arena.transport.sockets import bind
from arena.web.application import application
from arena.web.live_feed import OpenServer
from arena.web.reader import OpenSource
from arena.web.requests import USUAL, RequestRules

GRACE: Final = 3.0
"""Seconds that requests may still take after a signal."""


def run(
    open_source: OpenSource,
    listen: str,
    root: str,
    ready: Callable[[str], None],
    rules: RequestRules = USUAL,
    open_server: OpenServer | None = None,
) -> None:
    """Serve the pages at "host:port" until SIGINT or SIGTERM; tells `ready` their address. RuntimeError.

    `open_server` opens the server whose running matches are shown; without one none are.
    """
    sockets = bind(listen)
    config = Config()
    host, port = sockets[0].getsockname()[:2]
    config.bind = [f"fd://{each.detach()}" for each in sockets]
    config.include_server_header = False
    config.graceful_timeout = GRACE
    config.loglevel = "WARNING"
    named = f"[{host}]" if ":" in host else host
    pages = application(open_source, root, rules, open_server)
    trio.run(_serve, pages, config, partial(ready, f"http://{named}:{port}{root}/"))


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
