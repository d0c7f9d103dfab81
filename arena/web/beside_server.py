"""The process that a server starts to serve the pages.

`python -m arena.web.beside_server DATA LISTEN SOCKET PROXIES ORIGINS URL BOTS SERVER TLS FRAMES`. It ends with the
server, however the server ends.
"""

from __future__ import annotations

import logging
import sys
from functools import partial
from pathlib import Path

from arena.processes.parent import Parent, connected
from arena.queries.directory import opening_directory
from arena.queries.remote import at_socket, connect
from arena.stderr import log_to_stderr
from arena.web.answers.addresses import Addresses, BotAddress
from arena.web.playing.play_socket import PlaySocket
from arena.web.requests.each_request import RequestRules
from arena.web.requests.sites import Sites, frame_ancestors
from arena.web.serving import run
from trio_grpc.http2.proxy_protocol import networks
from trio_grpc.http2.sockets import host_and_port


def main(
    data: str,
    listen: str,
    unix_socket: str,
    proxies: str,
    web_origin: str,
    public_url: str,
    public_address: str,
    server: str,
    tls: str,
    embed_origins: str,
) -> None:
    """Report the address of the pages, or an error, to the server, and serve them until it ends.

    `proxies` are the server's trusted proxies; `web_origin` names other sites whose pages may do more than read.
    The server listens at `server`, without TLS if `tls` is empty. `public_url` and `public_address` may be empty, too,
    and so may `embed_origins`, the sites that may show a match in a frame.
    """
    log_to_stderr(log_json=True, level=logging.WARNING)  # goes to the server's log, as nobody reads standard output
    addresses = Addresses(public_url, public_address, BotAddress(server, bool(tls)))
    sites = Sites(host_and_port(listen)[0], web_origin, addresses.origin)
    rules = RequestRules(
        proxies=networks(proxies) if proxies else (),
        sites=sites,
        addresses=addresses,
        frames=frame_ancestors(embed_origins),
    )
    with connected() as parent, opening_directory(Path(data)) as open_source:
        parent.receive()  # a report before the server asks would be lost with the ready message
        try:
            run(
                open_source,
                listen,
                partial(_say, parent),
                rules,
                partial(connect, at_socket(Path(unix_socket))),
                PlaySocket(unix_socket, sites),
            )
        except RuntimeError as error:
            parent.send([("", str(error))])


def _say(parent: Parent, address: str) -> None:
    parent.send([(address, "")])


if __name__ == "__main__":
    main(*sys.argv[1:])
