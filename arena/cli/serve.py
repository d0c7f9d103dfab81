"""`arena serve`: the server."""

from __future__ import annotations

import gc
import logging
import signal
import ssl
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import structlog
import trio

from arena.cli.offers import SEATS, parse_offers
from arena.match.policy import Policy
from arena.server.arena import open_arena
from arena.server.config import LUCK, Config
from arena.server.fitter import open_fitter
from arena.server.limits import Limits
from arena.server.wall import now_us
from arena.store.clerk import Clerk, forked_clerk
from arena.store.errors import StoreError
from arena.store.store import open_store
from arena.wire.server import serve_arena
from arena.wire.settings import Settings
from arena.wire.tls import load_credentials
from engine.game import OptionError
from engine.registry import GAMES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from arena.server.arena import Arena

SECONDS: Final = click.FloatRange(0, 86_400)
LIMITS: Final = Limits()
SETTINGS: Final = Settings()
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")

log = structlog.get_logger("arena")


@click.command(epilog="Example: arena serve --data ./data --address 127.0.0.1:50051 --seats 4 --seats nullern:5")
@click.option(
    "--address",
    default="127.0.0.1:50051",
    show_default=True,
    help="Where to listen; port 0 is any free one.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("arena-data"),
    show_default=True,
    help="Directory of the database; made if missing.",
)
@click.option(
    "--registration",
    type=click.Choice(["open", "invited"]),
    default="open",
    show_default=True,
    help="Who may register a bot: anybody, or holders of an invitation (`arena bots invite`).",
)
@click.option(
    "--game",
    "games",
    type=click.Choice([*GAMES]),
    multiple=True,
    help="Game to play; repeatable. [default: all]",
)
@click.option(
    "--seats",
    metavar="[GAME:]N",
    multiple=True,
    help=f"Seats at a table, of every game or of one; repeatable. [default: {SEATS}]",
)
@click.option(
    "--option",
    "options",
    metavar="[GAME:]NAME=VALUE",
    multiple=True,
    help="Option of every game that has it, or of one, as novice=true; repeatable.",
)
@click.option("--house/--no-house", default=True, show_default=True, help="Let house bots fill tables.")
@click.option(
    "--house-workers",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Processes that choose for house bots; 0 for none of their own.",
)
@click.option(
    "--luck",
    type=click.Choice(["off", *GAMES, "all"]),
    multiple=True,
    default=sorted(LUCK),
    show_default=True,
    help="Game whose deals idle house workers play again for the luck column of its ladder; repeatable.",
)
@click.option("--patience", default=2.0, show_default=True, help="Seconds before house bots fill a table.")
@click.option("--capacity", default=256, show_default=True, help="Most matches one bot plays at once.")
@click.option("--drain", default=10.0, show_default=True, help="Seconds matches may go on at a stop.")
@click.option("--think", type=SECONDS, default=1.0, show_default=True, help="Seconds for a decision before the bank.")
@click.option("--bank", type=SECONDS, default=30.0, show_default=True, help="Seconds beyond those, a match.")
@click.option("--grace", type=SECONDS, default=30.0, show_default=True, help="Seconds a bot may be gone.")
@click.option(
    "--bots-per-owner", type=click.IntRange(1), default=LIMITS.bots, show_default=True, help="Most bots of one owner."
)
@click.option(
    "--streams-per-owner",
    type=click.IntRange(1),
    default=LIMITS.streams,
    show_default=True,
    help="Most streams that the bots of one owner have open.",
)
@click.option(
    "--message-rate",
    type=click.FloatRange(1),
    default=LIMITS.things,
    show_default=True,
    help="Answers and other things a second that a bot may say unasked; saved up for 200 s.",
)
@click.option(
    "--byte-rate",
    type=click.FloatRange(1024),
    default=LIMITS.traffic,
    show_default=True,
    help="Bytes a second that a bot may send; saved up for 16 s.",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=SETTINGS.connections,
    show_default=True,
    help="Most connections at once, of bots and readers; fewer where the system lets the process open fewer files.",
)
@click.option(
    "--connections-per-address",
    type=click.IntRange(1),
    default=SETTINGS.connections_per_address,
    show_default=True,
    help="Most of them from one IPv4 address or IPv6 /64; this machine is free to have all.",
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate chain (PEM); with --tls-key.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Private key (PEM); with --tls-cert.")
@click.option("--log-json", is_flag=True, help="Log as JSON lines; the default when standard error is no terminal.")
@click.option("--quiet", is_flag=True, help="Log warnings and errors only.")
@click.option("--debug", is_flag=True, help="Log everything; there are no secrets in it.")
def command(
    address: str,
    data: Path,
    registration: str,
    games: tuple[str, ...],
    seats: tuple[str, ...],
    options: tuple[str, ...],
    house: bool,
    house_workers: int,
    luck: tuple[str, ...],
    patience: float,
    capacity: int,
    drain: float,
    think: float,
    bank: float,
    grace: float,
    bots_per_owner: int,
    streams_per_owner: int,
    message_rate: float,
    byte_rate: float,
    connections: int,
    connections_per_address: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    log_json: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Run a server until it is told to stop (SIGINT or SIGTERM).

    It listens on this machine only unless --address says otherwise. It plays every game that has a table of the size
    asked for, unless --game says which; of several table sizes one is drawn for every match. A stop lets matches run on
    for --drain seconds; what then still runs, or at a second signal, is taken up by the next start on the same data.
    """
    _log_to_stderr(log_json or not sys.stderr.isatty(), _level(quiet, debug))
    try:
        config = Config(
            offers=parse_offers(GAMES, games, seats, options),
            house=house,
            house_workers=house_workers,
            luck=_lucky(luck),
            patience=patience,
            capacity=capacity,
            drain=drain,
            policy=Policy(soft_limit=_microseconds(think), bank=_microseconds(bank), grace=_microseconds(grace)),
            limits=Limits(bots=bots_per_owner, streams=streams_per_owner, things=message_rate, traffic=byte_rate),
        )
        credentials = _credentials(tls_cert, tls_key)
        settings = Settings(connections=connections, connections_per_address=connections_per_address)
        serve = partial(_serve, config, data, address, registration == "invited", credentials, settings)
        with forked_clerk() as clerk:
            trio.run(serve, clerk, restrict_keyboard_interrupt_to_checkpoints=True)
    except OptionError as error:
        raise click.UsageError(str(error)) from None
    except (StoreError, RuntimeError, OSError, ExceptionGroup) as error:
        cause: Exception = error
        while isinstance(cause, ExceptionGroup):
            cause = cause.exceptions[0]
        if not isinstance(cause, StoreError | RuntimeError | OSError):
            raise
        raise click.ClickException(str(cause)) from error


async def _serve(
    config: Config,
    data: Path,
    address: str,
    by_invitation: bool,
    credentials: ssl.SSLContext | None,
    settings: Settings,
    clerk: Clerk | None,
) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with (
            open_store(data, now_us(), clerk) as store,
            open_fitter(data) as fitter,
            open_arena(config, store, fitter=fitter) as arena,
            trio.open_nursery() as nursery,
        ):
            wire = partial(
                serve_arena,
                arena,
                address,
                by_invitation=by_invitation,
                credentials=credentials,
                settings=settings,
            )
            port = await nursery.start(wire)
            host = address.rpartition(":")[0]
            games = [game.name for game in config.games]
            click.echo(
                f"Arena listens on {host}:{port}, plays {', '.join(games)}, data in {data}. Stop it with Ctrl-C."
            )
            log.info("listening", host=host, port=port, data=str(data), games=games, clerk=clerk and clerk.pid)
            if credentials is None and host not in LOOPBACK:
                log.warning("tokens travel in clear text beyond this machine; use --tls-cert and --tls-key", host=host)
            # The collector took a sixth of the time with many streams: what is here stays, and it looks more rarely.
            gc.collect()
            gc.freeze()
            gc.set_threshold(50_000, 20, 50)
            nursery.start_soon(_obey, signals, arena)
            await arena.drained.wait()
            arena.dismiss()
            nursery.cancel_scope.cancel()
    log.info("stopped")


async def _obey(signals: AsyncIterator[int], arena: Arena) -> None:
    """The first signal drains; the second leaves what is still being played to the next start now."""
    await anext(signals)
    arena.begin_drain(arena.config.drain)
    await anext(signals)
    arena.begin_drain(0)


def _lucky(words: tuple[str, ...]) -> frozenset[str]:
    if len({*words}) > 1 and {*words} & {"off", "all"}:
        raise click.UsageError(f"--luck {' --luck '.join(words)}: choose games, or all, or off")
    return frozenset(GAMES if "all" in words else words) - {"off"}


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)


def _credentials(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise click.UsageError("--tls-cert and --tls-key go together")
    try:
        return load_credentials(cert, key)
    except ssl.SSLError as error:
        reason = error.reason or str(error)
        raise click.ClickException(f"{cert} and {key} are no certificate and its private key: {reason}") from None


def _level(quiet: bool, debug: bool) -> int:
    if quiet and debug:
        raise click.UsageError("--quiet and --debug: choose one")
    return logging.WARNING if quiet else logging.DEBUG if debug else logging.INFO


def _log_to_stderr(as_json: bool, level: int) -> None:
    # Pretty tracebacks show local variables, and those hold secrets.
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer = structlog.processors.JSONRenderer() if as_json else console
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *((structlog.processors.format_exc_info,) if as_json else ()),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
