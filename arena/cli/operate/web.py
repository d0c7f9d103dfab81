"""`arena web`: serve the pages of a running server or a data directory from a separate process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from arena.cli.data_source import DataPlace, takes_source

if TYPE_CHECKING:
    from arena.web.answers.addresses import Addresses
    from arena.web.live.feed import Servers
    from arena.web.reading.reader import OpenSource
    from arena.web.requests.each_request import RequestRules

DEFAULT_LISTEN: Final = "127.0.0.1:8080"


@click.command(epilog="Example: arena web --data ./arena-data --listen 127.0.0.1:8080")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=DEFAULT_LISTEN,
    show_default=True,
    help="Address for browsers; port 0: any.",
)
@click.option(
    "--root", metavar="PATH", default="", help="The path of the pages behind a proxy that strips it, such as /arena."
)
@click.option(
    "--rate",
    metavar="N",
    type=click.FloatRange(0),
    default=20.0,
    show_default=True,
    help="Requests per second from one address, saved up for ten seconds; 0: unlimited. Loopback has no limit.",
)
@click.option(
    "--proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    help="Address or network of a trusted proxy, which reports the clients' addresses; repeatable.",
)
@click.option(
    "--web-origin",
    metavar="ORIGINS",
    default="",
    help="Other sites on which readers may ask for analyses: https://HOST, separated by commas.",
)
@click.option(
    "--embed-origins",
    metavar="ORIGINS",
    default="*",
    show_default=True,
    help="Sites that may show a match in a frame: https://HOST, separated by commas; * for all, none for no site.",
)
@click.option(
    "--public-url",
    metavar="URL",
    default="",
    help="Address of the pages for readers, such as https://HOST/arena, whose path is then that of --root. By default "
    "the address at which a request arrives; behind a --proxy none.",
)
@click.option(
    "--public-address",
    metavar="[https://]HOST:PORT",
    default="",
    help="Address of the server for bots, https:// for TLS. By default that of --server where readers can reach it.",
)
@click.option(
    "--store", metavar="URL", help="Read this PostgreSQL database, postgresql://…, which may be a hot standby."
)
@click.option("--access-log", is_flag=True, help="Log every request: address, method, path, status, time, bytes.")
@takes_source
def command(
    listen: str,
    root: str,
    rate: float,
    proxies: tuple[str, ...],
    web_origin: str,
    embed_origins: str,
    public_url: str,
    public_address: str,
    store: str | None,
    access_log: bool,
    place: DataPlace,
) -> None:
    """Show ladder, bots, matches, replays and rules in a browser.

    The pages change nothing. They read from a server by its public calls, or from a data directory, even while a
    server uses it. Ctrl-C stops them.
    """
    if root and not (root.startswith("/") and not root.endswith("/")):
        raise click.BadParameter(
            f"it begins with a slash and does not end with one, not {root!r}", param_hint="'--root'"
        )
    addresses = _addresses(public_url, public_address, root, place)
    rules = _rules(listen, web_origin, rate, proxies, access_log, addresses, embed_origins)
    if store is not None:
        with _directory_of(store) as data:
            _serve_directory(replace(place, data=data), listen, rules)
        return
    if place.data is None:
        with place.reached_server() as client:
            client.games()
            _serve(lambda: nullcontext(client), listen, rules, {"": lambda: nullcontext(client)})
        return
    _serve_directory(place, listen, rules)


@contextmanager
def _directory_of(store: str) -> Iterator[Path]:
    """Yield a directory that only names a PostgreSQL database. Raises: StoreError, UsageError."""
    from arena.store.base.directory import use_server

    given = click.get_current_context().get_parameter_source
    if any(given(name) is ParameterSource.COMMANDLINE for name in ("server", "data")):
        raise click.UsageError("--store, --data and --server: choose one")
    with TemporaryDirectory(prefix="arena-web-") as directory:
        use_server(Path(directory), store)
        yield Path(directory)


def _serve_directory(place: DataPlace, listen: str, rules: RequestRules) -> None:
    from arena.queries.directory import opening_directory

    assert place.data is not None, "the caller has checked"
    with place.read_directory():
        pass
    with opening_directory(place.data) as open_source:
        _serve(open_source, listen, rules)


@contextmanager
def _refused(option: str) -> Iterator[None]:
    """Name an option in the errors about its value."""
    try:
        yield
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'--{option}'") from None


def _addresses(public_url: str, public_address: str, root: str, place: DataPlace) -> Addresses:
    """Return the addresses that the pages print. Raises: BadParameter."""
    from arena.web.answers.addresses import Addresses, BotAddress, bot_address, pages_address

    for option, value, parse in (
        ("public-url", public_url, pages_address),
        ("public-address", public_address, bot_address),
    ):
        with _refused(option):
            if value:
                parse(value)
    reached = place.data is None and not place.server.startswith("unix:")
    server = BotAddress(place.server, place.tls or place.roots is not None) if reached else None
    addresses = Addresses(public_url, public_address, server, root)
    if root and addresses.root != root:
        raise click.BadParameter(
            f"the path of {public_url!r} differs from --root {root!r}; leave --root out", param_hint="'--public-url'"
        )
    return addresses


def _rules(
    listen: str,
    web_origin: str,
    rate: float,
    proxies: tuple[str, ...],
    access_log: bool,
    addresses: Addresses,
    embed_origins: str,
) -> RequestRules:
    """Return the rules for requests. Raises: BadParameter."""
    from arena.stderr import log_to_stderr
    from arena.web.requests.each_request import RequestRules
    from arena.web.requests.sites import Sites, frame_ancestors
    from trio_grpc.http2.proxy_protocol import networks
    from trio_grpc.http2.sockets import host_and_port

    with _refused("listen"):
        host, _ = host_and_port(listen)
    with _refused("web-origin"):
        sites = Sites(host, web_origin, addresses.origin)
    with _refused("proxy"):
        named = networks(",".join(proxies)) if proxies else ()
    with _refused("embed-origins"):
        frames = frame_ancestors(embed_origins)
    log_to_stderr(level=logging.INFO if access_log else logging.WARNING)
    return RequestRules(rate, named, access_log, sites, addresses, frames)


def _serve(open_source: OpenSource, listen: str, rules: RequestRules, servers: Servers = MappingProxyType({})) -> None:
    from arena.web.serving import run
    from trio_grpc.http2.sockets import bind, bound

    try:
        sockets = bind(listen)
    except RuntimeError as error:
        raise click.ClickException(f"{error}; choose another place with --listen") from error
    address = f"http://{bound(sockets)}{rules.addresses.root}/"
    run(open_source, sockets, lambda: click.echo(f"Pages at {address}; Ctrl-C ends them."), rules, servers)
