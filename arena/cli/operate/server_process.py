"""The server process: sets up logging, signals and a Unix socket, and connects store, arena and transport. It reports
the state of the server to systemd.

Besides its address, every server listens at this socket, for programs that can read the data directory.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import structlog
import trio

from arena import STALE_BUILD, build
from arena.api.server import serve_arena
from arena.cli.operate.web_process import show_pages
from arena.processes.memory import collect_rarely, keep_in_huge_pages
from arena.server.arena import Arena, open_arena
from arena.server.config import Config, on_loopback, quota_in_force
from arena.server.nodes.node import instant
from arena.server.ratings.fit_client import open_fit_client
from arena.server.runtime.wall_clock import now_us
from arena.stderr import StatusLine, log_to_stderr
from arena.store.base.directory import use_server
from arena.store.base.errors import DiskFull, StoreError, StoreReplaced
from arena.store.ladder import events, seasons
from arena.store.store import Store, open_store
from arena.store.writer.process import WriterProcess, fork_writer_process
from trio_grpc.http2.sockets import LONGEST_UNIX_PATH
from trio_grpc.http2.tls import load_credentials, renew

if TYPE_CHECKING:
    from arena.cli.operate.node_place import NodePlace

SOCKET: Final = "arena.socket"
NODE_SOCKET: Final = "node-{}.socket"
"""Name of the socket of a node other than the first of its server."""
SAYS_EVERY: Final = 3.0
"""Seconds between two log lines about a long start or stop."""
STATUS_EVERY: Final = 1.0
"""Seconds between two updates of the status line at the bottom of a terminal."""
SUMMARY_EVERY: Final = 60.0
"""Seconds between two log lines with the numbers of bots and matches."""
NOTHING_LOST: Final = (
    "nothing is lost: results are in the database, matches that were being played in the journal. Make room, and start "
    "the server again"
)
"""Message of a server that ends because of a full disk. It says that nothing is lost, and how to continue."""
NOTIFIES_EVERY: Final = 10.0
"""Number of seconds between two messages to systemd if it sets no watchdog."""
MORE_TIME: Final = 30.0
"""Number of additional seconds that each message about a long start or stop requests from systemd."""
log = structlog.get_logger("arena")


@contextmanager
def unix_sockets(config: Config, further: Iterable[int] = ()) -> Iterator[list[Path]]:
    """Yield the paths of the Unix sockets of a server, or of its nodes: in the data directory, or at --unix-socket.

    `further`: the numbers of the nodes other than the first.

    The file system or a long path may prevent a socket in the data directory. Then the sockets are in a temporary
    directory while the `with` block runs.
    """
    if config.transport.unix_socket is not None:
        path = config.transport.unix_socket.absolute()
        yield [path, *(path.with_name(f"{path.name}-{node}") for node in further)]
    elif _can_hold_sockets(data := config.data.absolute()):
        yield _sockets_in(data, further)
    else:
        with tempfile.TemporaryDirectory(prefix="arena-") as directory:
            yield _sockets_in(Path(directory), further)


def _sockets_in(directory: Path, further: Iterable[int]) -> list[Path]:
    return [directory / SOCKET, *(directory / NODE_SOCKET.format(node) for node in further)]


def listening_at(config: Config, path: Path) -> Config:
    """Return the configuration with a Unix socket."""
    return replace(config, transport=replace(config.transport, unix_socket=path))


def _can_hold_sockets(directory: Path) -> bool:
    """Return true if a directory can contain a socket, and its path has no comma, at which gRPC would split it."""
    trial = directory / f"{SOCKET}.{os.getpid()}"
    if len(os.fsencode(trial)) > LONGEST_UNIX_PATH or "," in str(directory):
        return False
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            made.bind(str(trial))
        trial.unlink()
    except OSError:
        return False
    return True


def run_server(config: Config) -> None:
    """Run a server until a signal ends it. Raises: ClickException: It cannot start, or fails."""
    on_terminal = sys.stdout.isatty() and sys.stderr.isatty() and not (config.log_json or config.quiet)
    status = StatusLine(sys.stderr) if on_terminal else None
    log_as_set(config, status)
    try:
        credentials = credentials_of(config)
        with unix_sockets(config) as [path], fork_writer_process() as writer_process:
            serve = partial(serve_until_signal, listening_at(config, path), credentials, writer_process, status)
            trio.run(serve, restrict_keyboard_interrupt_to_checkpoints=True)
    except (StoreError, RuntimeError, OSError, ExceptionGroup) as error:
        if (cause := cause_of(error)) is None:
            raise
        raise click.ClickException(words_of(cause)) from error


def log_as_set(config: Config, status: StatusLine | None = None) -> None:
    """Log to standard error as the settings request. `status`: a status line below the log."""
    level = logging.WARNING if config.quiet else logging.DEBUG if config.debug else logging.INFO
    log_to_stderr(config.log_json, level, status)


def cause_of(error: Exception) -> StoreError | RuntimeError | OSError | None:
    """Return the first error of a group if it ends a server with a message. Return None if it is a bug."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, StoreError | RuntimeError | OSError) else None


def words_of(cause: StoreError | RuntimeError | OSError) -> str:
    """Return the message of a server that ends because of an error."""
    if isinstance(cause, DiskFull):
        return f"no room left on the disk of {cause.path}; {NOTHING_LOST}"
    return str(cause)


class _Upgrading:
    """Log the progress of upgrading an old data directory every few seconds."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, whole: int) -> None:
        if time.monotonic() - self._said >= SAYS_EVERY:
            self._said = time.monotonic()
            log.info(what, done=done, of=whole)
            long_work(f"{what}: {done} of {whole}")


async def serve_until_signal(
    config: Config,
    credentials: ssl.SSLContext | None,
    writer_process: WriterProcess | None,
    status: StatusLine | None = None,
    place: NodePlace | None = None,
) -> None:
    """Run a server until a signal ends it. `place`: the connection to the parent if the server is a node."""
    data, asked = config.data, instant()
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with (
            _open_store(config, writer_process, place) as store,
            open_fit_client(data, quota_in_force(config), await store.read(events.has_events)) as fit_client,
            open_arena(config, store, fit_client=fit_client, asked=asked) as arena,
            trio.open_nursery() as nursery,
        ):
            port = await nursery.start(partial(serve_arena, arena, config.address, credentials=credentials))
            assert config.transport.unix_socket is not None, "see unix_sockets"
            host = config.address.rpartition(":")[0]
            address, path = f"{host}:{port}", config.transport.unix_socket
            if place is None:
                store.announce(path)
            pages = "" if config.web is None else await nursery.start(show_pages, config, address, [path])
            games = [game.name for game in config.games]
            further = [ladder.name for ladder in config.ladder_tables if ladder.name]
            played = [*games, *(f"the ladder {name}" for name in further)]
            if place is None:
                click.echo(greeting(address, played, data, pages))
            else:
                arena.on_drain = place.draining
                place.listening(address, played)
                nursery.start_soon(place.run, arena)
            log.info(
                "listening",
                host=host,
                port=port,
                data=str(data),
                games=games,
                **({"ladders": further} if further else {}),
                build=build.kind(),
                writer_process=writer_process and writer_process.pid,
                **({} if place is None else {"node": place.start.number}),
            )
            if STALE_BUILD:
                log.warning("the compiled build does not run", reason=STALE_BUILD)
            if config.metrics is not None:
                await _serve_metrics(arena, config.metrics, nursery)
            for match_id, why in store.lost.items():
                log.error("match is void", match_id=match_id, error=why)
            for segment in store.files.broken:
                log.error("a file of replays is missing or cut short: replays in it are lost", file=str(segment.path))
            for path, before, now in store.files.exposed:
                log.warning(
                    "other users could open a file of the data directory; it is for the server's user alone",
                    file=str(path),
                    mode=f"{before:04o}",
                    now=f"{now:04o}",
                )
            if store.files.in_database:
                log.warning(
                    "replays stay in the database: the disk has no room for both; make room, start again",
                    replays=store.files.in_database,
                )
            if credentials is None and not on_loopback(config):
                log.warning("tokens travel in clear text beyond this machine; use --tls-cert and --tls-key", host=host)
            collect_rarely()
            nursery.start_soon(_drain_on_signal, signals, arena)
            nursery.start_soon(_watch, store)
            nursery.start_soon(keep_in_huge_pages)
            nursery.start_soon(keep_informed, arena)
            if status is None:
                nursery.start_soon(_summarize, arena)
            else:
                nursery.start_soon(_show_status, arena, status, pages)
            if credentials is not None and config.tls_cert is not None and config.tls_key is not None:
                nursery.start_soon(renew, credentials, config.tls_cert, config.tls_key, _log_renewal)
            await arena.drained.wait()
            arena.dismiss()
            nursery.cancel_scope.cancel()
    log.info("stopped")


def greeting(address: str, played: Sequence[str], data: Path, pages: str) -> str:
    """Return the text that a server prints once it listens."""
    text = f"Arena listens on {address}, plays {', '.join(played)}, data in {data}. Stop it with Ctrl-C."
    return f"{text}\nPages at {pages}" if pages else text


@asynccontextmanager
async def _open_store(
    config: Config, writer_process: WriterProcess | None, place: NodePlace | None
) -> AsyncIterator[Store]:
    """Open the store while the `with` block runs. Log ladders in the store that the settings no longer name, and
    ladders whose list of owners is useless under open registration.

    Raises:
        StoreError: The store cannot be used.
        RuntimeError: A ladder of the settings has matches of another game.
    """
    data = config.data
    if config.store is not None:
        use_server(data, config.store)
    node, lock = (None, None) if place is None else (place.start, place.lock)
    async with open_store(data, now_us(), writer_process, _Upgrading(), node, lock) as store:
        played = {ladder.name: ladder.game.name for ladder in config.ladders}
        for name, game in (await store.read(seasons.games_of)).items():
            if name in played and game != played[name]:
                raise RuntimeError(
                    f"the ladder {name} is of {played[name]} in the settings, but its matches in {data} are of "
                    f"{game}; give the new ladder another name"
                )
            if name not in played and name != game:
                log.warning("a ladder is no longer in the settings; its results stay", ladder=name, game=game)
        for ladder in config.ladders if config.registration == "open" else ():
            if isinstance(ladder.entry, tuple):
                log.warning(
                    "anybody can register a bot of an owner that a ladder lists: set registration to invited",
                    ladder=ladder.name,
                )
        yield store


async def _serve_metrics(arena: Arena, metrics: str, nursery: trio.Nursery) -> None:
    from arena.api.documents import serve_documents
    from arena.api.metrics import metric_documents

    try:
        port = await nursery.start(serve_documents, metrics, metric_documents(arena))
    except RuntimeError as error:
        raise RuntimeError(f"metrics: {error}") from error
    click.echo(f"Metrics at http://{metrics.rpartition(':')[0]}:{port}/metrics")


async def _summarize(arena: Arena) -> None:
    """Log the numbers of connected bots, running matches and ended matches, once a minute until cancelled."""
    while True:
        await trio.sleep(SUMMARY_EVERY)
        ended = sum(arena.live.ended(ladder.name) for ladder in arena.config.ladders)
        log.info("running", bots=len(arena.players.sessions()), matches=arena.playing, ended_in_a_minute=ended)


async def _show_status(arena: Arena, status: StatusLine, pages: str) -> None:
    """Show the numbers of bots and matches, and the pages' address, in a terminal's status line, until cancelled."""
    try:
        while True:
            ended = sum(arena.figures.matches.values())
            status.show(f"{state_of(arena)}, {ended:,} finished{pages and f'. Pages at {pages}'}")
            await trio.sleep(STATUS_EVERY)
    finally:
        status.show("")


async def _watch(store: Store) -> None:
    """Wait until the store's files are deleted or replaced. Then raise StoreReplaced, which ends the server."""
    try:
        await store.watch()
    except StoreReplaced as error:
        log.error("a file of the data directory is gone", error=str(error))
        raise


async def _drain_on_signal(signals: AsyncIterator[int], arena: Arena) -> None:
    """Drain at the first signal. At the second, leave running matches to the next start at once."""
    await anext(signals)
    arena.begin_drain(arena.config.drain)
    await anext(signals)
    arena.begin_drain(0)


def _log_renewal(error: ssl.SSLError | OSError | None) -> None:
    if error is None:
        log.info("new connections get the new certificate")
    else:
        log.error("the certificate changed and cannot be used; the old one stays", error=str(error))


def credentials_of(config: Config) -> ssl.SSLContext | None:
    """Return the server's certificate and key, or None without TLS. Raises: click.ClickException."""
    if config.tls_cert is None or config.tls_key is None:
        return None
    try:
        return load_credentials(config.tls_cert, config.tls_key)
    except ssl.SSLError as error:
        reason = error.reason or str(error)
        both = f"{config.tls_cert} and {config.tls_key}"
        raise click.ClickException(f"{both} are no certificate and its private key: {reason}") from None


def notify(**state: object) -> None:
    """Send variables such as `READY=1` to the service manager, as sd_notify(3) describes.

    Do nothing if there is no service manager, or if it does not read.
    """
    if path := os.environ.get("NOTIFY_SOCKET"):
        message = "\n".join(f"{name}={value}" for name, value in state.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)
            try:
                sending.connect(f"\0{path[1:]}" if path.startswith("@") else path)
                sending.send(message.encode())
            except OSError:
                return


def long_work(status: str) -> None:
    """Report a long start or stop to the service manager, and request more time than the unit's limit."""
    notify(STATUS=status, EXTEND_TIMEOUT_USEC=round(MORE_TIME * 1e6))


def state_of(arena: Arena) -> str:
    """Return the numbers of bots and matches as a phrase."""
    return f"{len(arena.players.sessions())} bots connected, {arena.playing} matches running"


async def keep_informed(arena: Arena) -> None:
    """Declare the server ready, then answer the watchdog and show the server's state until cancelled.

    The messages come from the loop that plays the matches. If the loop blocks, they stop and the watchdog restarts the
    server.
    """
    notify(READY=1)
    every = NOTIFIES_EVERY
    if os.environ.get("WATCHDOG_PID") in (None, str(os.getpid())):
        every = min(every, int(os.environ.get("WATCHDOG_USEC", "0")) / 2e6 or every)
    try:
        while True:
            stopping = arena.stopping.is_set()
            state = state_of(arena)
            if stopping:
                long_work(f"stops after its matches: {state}")
            else:
                notify(STATUS=state)
            notify(WATCHDOG=1)
            with trio.move_on_after(every):
                await (trio.sleep_forever() if stopping else arena.stopping.wait())
    finally:
        notify(STOPPING=1)
