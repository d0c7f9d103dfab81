"""`arena web`: the pages, in a process of their own, over a running server or a data directory."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

import click

from arena.cli.data_source import takes_source

if TYPE_CHECKING:
    from arena.cli.data_source import DataPlace
    from arena.web.live_feed import OpenServer
    from arena.web.reader import OpenSource

DEFAULT_LISTEN: Final = "127.0.0.1:8080"


@click.command(epilog="Example: arena web --data ./arena-data --listen 127.0.0.1:8080")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=DEFAULT_LISTEN,
    show_default=True,
    help="Where browsers connect; port 0: any.",
)
@click.option(
    "--root", metavar="PATH", default="", help="The path of the pages behind a proxy that strips it, such as /arena."
)
@takes_source
def command(listen: str, root: str, place: DataPlace) -> None:
    """Show ladder, bots, matches, replays and rules in a browser.

    The pages only read: what everybody may ask of a server, or a data directory on which a server may work meanwhile.
    They end with Ctrl-C.
    """
    if root and not (root.startswith("/") and not root.endswith("/")):
        raise click.BadParameter(
            f"it begins with a slash and does not end with one, not {root!r}", param_hint="'--root'"
        )
    if place.data is None:
        with place.reached_server() as client:
            client.games()
            _serve(lambda: nullcontext(client), listen, root, lambda: nullcontext(client))
        return
    from arena.client.directory import open_directory

    data = place.data
    with place.read_directory():
        pass
    _serve(lambda: open_directory(data), listen, root)


def _serve(open_source: OpenSource, listen: str, root: str, open_server: OpenServer | None = None) -> None:
    from arena.web.serving import run

    try:
        run(
            open_source, listen, root, lambda address: click.echo(f"Pages at {address}; Ctrl-C ends them."), open_server
        )
    except RuntimeError as error:
        raise click.ClickException(f"{error}; choose another place with --listen") from error
