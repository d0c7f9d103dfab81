"""`arena serve`: the settings of a server from defaults, file and flags.

The server's code is imported when the server starts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from arena.cli.game_options import SEATS
from arena.cli.operate.addresses import addresses_of, dialled
from arena.cli.operate.config_file import ConfigFile, ConfigFileError, read_config, write_config
from arena.cli.operate.setting_options import SettingsCommand, setting_options
from arena.cli.operate.settings import configure
from arena.server.config import Config
from engine.game import OptionError
from engine.registry import GAMES
from trio_grpc.http2.proxy_protocol import networks
from trio_grpc.http2.sockets import host_and_port


@click.command(
    cls=SettingsCommand,
    epilog="Example: arena serve --data ./data --address 127.0.0.1:50051 --seats 4 --seats nullern:5",
)
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    help="TOML file of settings, which are named like the flags; a flag overrides the file.",
)
@click.option("--print-config", is_flag=True, help="Print all settings as such a file and exit.")
@click.option(
    "--game", "games", type=click.Choice([*GAMES]), multiple=True, help="Game to play; repeatable. [default: all]"
)
@click.option(
    "--seats",
    metavar="[GAME:]N",
    multiple=True,
    help=f"Seats at a table, for all games or for one; repeatable. [default: {SEATS}]",
)
@click.option(
    "--option",
    "options",
    metavar="[GAME:]NAME=VALUE",
    multiple=True,
    help="Option for all games that have it or for one, such as novice=true; repeatable.",
)
@setting_options
def command(
    file: Path | None,
    print_config: bool,
    games: tuple[str, ...],
    seats: tuple[str, ...],
    options: tuple[str, ...],
    **flags: Any,
) -> None:
    """Run a server until SIGINT or SIGTERM.

    It listens only on this machine unless --address names another interface. It plays the games of --game, or else
    every game that has a table of the requested size. If there are several table sizes, one is drawn for every match.
    At a stop, matches may continue for --drain seconds. Those that take longer continue after the next start; a second
    signal stops at once.

    Every setting can be in the file of --config: `arena serve --print-config > arena.toml` makes one. Further ladders
    of a game are in this file only, as tables [[ladders]].
    """
    config = _settled(file, games, seats, options, {name: value for name, value in flags.items() if value is not None})
    if print_config:
        _print(write_config(config))
        return
    if config.processes > 1 or config.node is not None:
        from arena.cli.operate.nodes import run_nodes

        run_nodes(config)
    else:
        from arena.cli.operate.server_process import run_server

        run_server(config)


def _settled(
    path: Path | None, games: tuple[str, ...], seats: tuple[str, ...], options: tuple[str, ...], flags: dict[str, Any]
) -> Config:
    """Return the configuration. Flags override the file, which overrides the defaults. Raises: UsageError: Flags
    conflict.
    """
    try:
        file = ConfigFile() if path is None else read_config(path)
        config = configure(file.ladders(games, seats, options), {**file.values, **flags})
    except (ConfigFileError, OptionError) as error:
        raise click.UsageError(str(error)) from None
    if (config.tls_cert is None) != (config.tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    _check_listening(config)
    if config.node is not None:
        _check_node(config, config.node)
    if config.quiet and config.debug:
        raise click.UsageError("--quiet and --debug: choose one")
    return config


def _check_listening(config: Config) -> None:
    """Check the addresses before anything is written to the disk. Raises: click.UsageError."""
    each = partial(addresses_of, processes=config.processes)
    checks: list[tuple[str, str | None, Callable[[str], object]]] = [
        ("address", config.address, each),
        ("web", config.web, host_and_port),
        ("metrics", config.metrics, each),
        ("proxies", config.transport.proxies, networks),
    ]
    if config.web_origin is not None or config.embed_origins is not None:
        from arena.web.requests.sites import frame_ancestors, site_names

        checks += [
            ("web_origin", config.web_origin, site_names),
            ("embed_origins", config.embed_origins, frame_ancestors),
        ]
    if config.public_url is not None or config.public_address is not None:
        from arena.web.answers.addresses import bot_address, pages_address

        checks += [
            ("public_url", config.public_url, pages_address),
            ("public_address", config.public_address, partial(each, parse=bot_address)),
        ]
    if config.webhook is not None:
        from arena.server.workers.webhook import webhook_address

        checks.append(("webhook", config.webhook, webhook_address))
    for name, value, parse in checks:
        try:
            if value is not None:
                parse(value)
        except ValueError as error:
            raise click.UsageError(f"{name}: {error}") from None


def _check_node(config: Config, node: int) -> None:
    """Raise UsageError if a server on one of several machines cannot share its store in this way."""
    from arena.store.base.directory import uses_server
    from arena.store.nodes import HIGHEST

    data = config.data
    if config.store is None and not uses_server(data):
        raise click.UsageError("node: only servers on a PostgreSQL database share it: name the database with --store")
    if (last := node + config.processes - 1) > HIGHEST:
        raise click.UsageError(
            f"node: {config.processes} processes from {node} are nodes up to {last}, above {HIGHEST}"
        )
    addresses = config.address if config.public_address is None else config.public_address
    for address in addresses.split(","):
        if dialled(address.strip()).startswith(":"):
            remedy = "name the address of this machine with --public-address HOST:PORT"
            raise click.UsageError(f"node: bots that come from another machine cannot dial {address.strip()}: {remedy}")


def _print(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise click.ClickException(f"TOML is UTF-8, and {error.object[error.start : error.end]!r} is not") from None
    sys.stdout.write(text)
