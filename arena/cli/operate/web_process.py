"""The process that serves a server's pages. It starts and ends with the server, or with the parent of its nodes,
and is restarted when it dies.

It requests running matches through the server's Unix socket, by public calls, and reads all other data from the data
directory. The server imports no code of the pages, and no decision waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click
import structlog
import trio

from arena.processes.helper import LONG_ENOUGH, HelperFailed, helper, keep
from trio_grpc.http2.sockets import bind

if TYPE_CHECKING:
    from arena.server.config import Config

MODULE: Final = "arena.web.beside_server"

log = structlog.get_logger("arena")


def check_web_address(config: Config) -> None:
    """Check that the pages can listen at the configured address, if there is one. Raises: RuntimeError."""
    if config.web is not None:
        try:
            sockets = bind(str(config.web))
        except RuntimeError as error:
            raise RuntimeError(f"web: {error}") from error
        for each in sockets:
            each.close()


async def show_pages(
    config: Config,
    server: str,
    unix_sockets: Sequence[Path],
    *,
    task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run the process, and restart it when it ends, until cancelled. Report the pages' address at the start.

    `server`: the server's address for bots. `unix_sockets`: those of its nodes. The reported address is empty if the
    first process ended early. The server then runs without pages, and prints the address once a later process listens.

    Raises:
        RuntimeError: The first process cannot listen at the configured address.
    """
    assert config.web is not None, "the caller has looked"
    listen = config.web
    data, proxies = str(config.data.absolute()), config.transport.proxies or ""
    web_origin = config.web_origin or ""
    public_url, public_address = config.public_url or "", config.public_address or ""
    tls = "" if config.tls_cert is None else "tls"
    node = "1" if config.node is None else str(config.node)
    words = (proxies, web_origin, public_url, public_address, server, tls, config.embed_origins or "", node)
    tried = begun = False

    async def run() -> bool:
        nonlocal tried, begun, listen
        started = trio.current_time()
        try:
            async with helper(MODULE, data, listen, *words, *map(str, unix_sockets)) as process:
                process.channel.send("where?")
                answer: list[tuple[str, str]] = await process.channel.receive()
                if not answer:
                    raise HelperFailed("the process that shows pages ended before it listened")
                address, wrong = answer[0]
                if wrong and not tried:
                    raise RuntimeError(f"web: {wrong}")
                if wrong:
                    raise HelperFailed(wrong)
                log.info("pages", address=address, process=process.pid)
                if not begun:
                    begun = True
                    # After a restart, port 0 means the port that the first process got.
                    listen = urlsplit(address).netloc
                    if tried:
                        click.echo(f"Pages at {address}")
                if not tried:
                    tried = True
                    task_status.started(address)
                await process.channel.receive()
            log.error("the process that shows pages ended; it is started anew", status=process.status)
        except HelperFailed as error:
            log.error("the process that shows pages cannot be started; it is tried again", error=str(error))
            if not tried:
                tried = True
                task_status.started("")
            return False
        return trio.current_time() - started > LONG_ENOUGH

    await keep(run)
