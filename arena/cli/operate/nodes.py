"""The parent of the nodes of one `arena serve`. It holds the lock, starts the nodes and restarts any that dies.

The parent plays no matches and opens no database. It runs the process that serves the pages of all nodes.
The end of one node does not end the others. A drain of one node drains all.
"""

from __future__ import annotations

import json
import signal
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import click
import structlog
import trio

from arena.cli.operate.addresses import addresses_of, dialled, with_port
from arena.cli.operate.config_file import write_config
from arena.cli.operate.node_place import NodeTask
from arena.cli.operate.server_process import (
    cause_of,
    credentials_of,
    greeting,
    listening_at,
    log_as_set,
    notify,
    unix_sockets,
    words_of,
)
from arena.cli.operate.settings import TABLES
from arena.cli.operate.web_process import check_web_address, show_pages
from arena.processes.channel import Channel
from arena.processes.helper import LONG_ENOUGH, HelperFailed, helper, keep
from arena.server.config import Config, quota_in_force
from arena.store.base.directory import database_of, identity, use_server
from arena.store.base.errors import StoreError
from arena.store.base.lock import announce
from arena.store.schema import REVISION
from arena.version import __version__
from trio_grpc.http2.sockets import bind_unix

MODULE: Final = "arena.cli.operate.node_process"
OF_A_MACHINE: Final = (
    "address",
    "data",
    "store",
    "tls_cert",
    "tls_key",
    "metrics",
    "processes",
    "node",
    "house_workers",
    "house_search",
    "drain",
    "web",
    "web_origin",
    "embed_origins",
    "public_url",
    "public_address",
    "log_json",
    "quiet",
    "debug",
    "transport",
    "pair_quota",
    "pair_week_quota",
)
"""Settings and tables of settings that may differ between machines. The quota settings are listed because the quotas in
force are compared instead.
"""
log = structlog.get_logger("arena")


def run_nodes(config: Config) -> None:
    """Run the nodes of a server until a signal or a drain ends all. Raises: click.ClickException."""
    log_as_set(config)
    credentials_of(config)  # Reports a bad certificate before any node starts.
    try:
        check_web_address(config)
        with unix_sockets(config, numbers_of(config)[1:]) as paths:
            trio.run(_run, config, paths, restrict_keyboard_interrupt_to_checkpoints=True)
    except (StoreError, RuntimeError, OSError, ExceptionGroup) as error:
        if (cause := cause_of(error)) is None:
            raise
        raise click.ClickException(words_of(cause)) from error


def numbers_of(config: Config) -> range:
    """Return the numbers of the nodes of this server."""
    first = 1 if config.node is None else config.node
    return range(first, first + config.processes)


async def _run(config: Config, paths: Sequence[Path]) -> None:
    data = config.data
    if config.store is not None:
        use_server(data, config.store)
    locked = database_of(data).locked(identity="" if config.node is None else identity(data))
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals, locked as lock, _removed(paths):
        async with trio.open_nursery() as nursery:
            nodes = _Nodes(config, paths, lock, nursery)
            await nodes.start()
            nursery.start_soon(nodes.until_ended)
            limit = config.drain
            async for _ in signals:
                nodes.drain(limit)
                limit = 0.0
    log.info("stopped")


@contextmanager
def _removed(unix_sockets: Sequence[Path]) -> Iterator[None]:
    """Remove the files of the nodes' Unix sockets after the `with` block, because a killed node cannot do this."""
    try:
        yield
    finally:
        for path in unix_sockets:
            if path.is_socket():
                with suppress(RuntimeError):  # Another server listens there.
                    bind_unix(path).close()
                    path.unlink()


class _Nodes:
    """The nodes of this server."""

    def __init__(self, config: Config, paths: Sequence[Path], lock: int, nursery: trio.Nursery) -> None:
        self._config: Final = config
        self._paths: Final = paths
        """The Unix socket of each node."""
        self._lock: Final = lock
        self._nursery: Final = nursery
        address, metrics, processes = config.address, config.metrics, config.processes
        public_address = config.public_address
        self._addresses: Final = [with_port(each) for each in addresses_of(address, processes)]
        self._metrics: Final = [None] * processes if metrics is None else addresses_of(metrics, processes)
        public = self._addresses if public_address is None else addresses_of(public_address, processes, str)
        self._public: Final = [dialled(each) for each in public]
        self._channels: dict[int, Channel] = {}
        self._draining: float | None = None
        """The limit of the drain in seconds; None if there is no drain."""
        self._ended: Final = {number: trio.Event() for number in numbers_of(config)}
        self._first: Final = min(self._ended)
        self._up: Final = {number: trio.Event() for number in self._ended}
        self._open: Final = trio.Event()
        """Set once the first node has opened the data."""
        self._said: dict[int, Mapping[str, Any]] = {}
        """The report with which each node announced that it is listening."""

    async def start(self) -> None:
        """Start all nodes. The others open the data once the first node has upgraded it. Raises: RuntimeError."""
        first = self._first
        for number in self._ended:
            self._nursery.start_soon(keep, partial(self._run, number))
        await self._up[first].wait()
        self._open.set()
        for up in self._up.values():
            await up.wait()
        said = self._said[first]
        config, data, paths = self._config, self._config.data, self._paths
        announce(data, self._lock, paths[0])
        # The address is complete even if the settings list one for each node.
        show = partial(show_pages, config, said["address"], paths)
        pages = "" if config.web is None else await self._nursery.start(show)
        addresses = [self._said[number]["address"] for number in self._ended]
        click.echo(greeting(said["address"], said["plays"], data, pages))
        click.echo(f"Nodes at {', '.join(addresses)}")
        notify(READY=1)

    def drain(self, limit: float) -> None:
        """Drain all nodes. A later call with a lower limit shortens the drain."""
        if self._draining is not None and limit >= self._draining:
            return
        self._draining = limit
        for channel in self._channels.values():
            channel.send(("drain", limit))

    async def until_ended(self) -> None:
        """Wait until a drain has ended all nodes, and cancel everything else."""
        for ended in self._ended.values():
            await ended.wait()
        self._nursery.cancel_scope.cancel()

    async def _run(self, number: int) -> bool:
        """Run a node until it ends. Return True if it ran long enough to count as started. Raises: RuntimeError."""
        began = trio.current_time()
        try:
            async with helper(MODULE, files=(self._lock,)) as running:
                channel = running.channel
                if number > self._first:
                    await self._open.wait()
                channel.send(self._task(number))
                try:
                    why = await self._hear(number, channel, running.pid)
                finally:
                    self._channels.pop(number, None)
        except HelperFailed as error:
            why = str(error)
        if self._draining is not None:
            self._ended[number].set()
            await trio.sleep_forever()
        if not self._up[number].is_set():
            raise RuntimeError(why or f"node {number} ended before it listened")
        log.error("a node ended; it is started again", node=number, why=why)
        return trio.current_time() - began > LONG_ENOUGH

    async def _hear(self, number: int, channel: Channel, pid: int) -> str:
        """Handle a node's reports until it ends. Return the reason why it ended, if it reported one."""
        why = ""
        while messages := await channel.receive():
            for kind, value in messages:
                if kind == "listening":
                    self._said[number] = value
                    self._channels[number] = channel
                    log.info("node runs", node=number, pid=pid, address=value["address"])
                    self._up[number].set()
                    if self._draining is not None:
                        channel.send(("drain", self._draining))
                elif kind == "draining":
                    self.drain(value)
                elif kind == "replaced":
                    raise RuntimeError(value)
                else:
                    why = value
        return why

    def _task(self, number: int) -> NodeTask:
        index = number - self._first
        quota = quota_in_force(self._config)  # It depends on the addresses of all nodes.
        own = replace(
            self._config,
            address=self._addresses[index],
            metrics=self._metrics[index],
            web=None,
            pair_quota=quota.day,
            pair_week_quota=quota.week,
        )
        own = listening_at(own, self._paths[index])
        return NodeTask(
            write_config(own),
            number,
            (*self._ended,),
            self._public[index],
            f"arena {__version__}, schema {REVISION}",
            shared_settings(self._config),
            self._lock,
            self._config.node is not None,
        )


def shared_settings(config: Config) -> str:
    """Return the name and a digest of each setting that all nodes of a store share."""
    document = tomllib.loads(write_config(config))
    document["quota"] = quota_in_force(config)
    own = {name: value for name, value in document.items() if name not in OF_A_MACHINE}
    flat: dict[str, Any] = {}
    for name, value in own.items():
        flat |= value if name in TABLES else {name: value}
    digests = {name: sha256(json.dumps(value, sort_keys=True).encode()).hexdigest() for name, value in flat.items()}
    return " ".join(f"{name}:{digest[:12]}" for name, digest in sorted(digests.items()))
