"""The process that a server starts to serve the pages.

`python -m arena.web.beside_server DATA LISTEN PROXIES ORIGINS URL BOTS SERVER TLS FRAMES NODE SOCKETS…`. It ends with
the server, or with the parent of its nodes, even if that is killed.
"""

from __future__ import annotations

import select
import sys
from typing import Final
from urllib.parse import urlsplit

from arena.processes.parent import connected
from trio_grpc.http2.sockets import bind, bound

UNUSED: Final = 60.0
"""Maximum number of seconds without a request before the code of the pages is loaded, which takes a second or two."""


def main(
    data: str,
    listen: str,
    proxies: str,
    web_origin: str,
    public_url: str,
    public_address: str,
    server: str,
    tls: str,
    embed_origins: str,
    first_node: str,
    *unix_sockets: str,
) -> None:
    """Report the address of the pages, or an error, to the server, and serve the pages until the server ends.

    `proxies` are the server's trusted proxies. `web_origin` names other sites whose pages may do more than read.
    `server` is the address at which the server listens, without TLS if `tls` is empty. `public_url` and
    `public_address` may be empty, and so may `embed_origins`, the sites that may show a match in a frame. The server's
    nodes listen on `unix_sockets`. `first_node` is the number of the first node. The code of the pages is loaded at the
    first request, to keep the start of the server fast.
    """
    with connected() as parent:
        # Wait for the server's request, because an earlier report would be lost with the ready message.
        parent.receive()
        try:
            sockets = bind(listen)
        except RuntimeError as error:
            parent.send([("", str(error))])
            return
        parent.send([(f"http://{bound(sockets)}{urlsplit(public_url).path.rstrip('/')}/", "")])
        select.select(sockets, [], [], UNUSED)

        import logging
        from functools import partial
        from pathlib import Path

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

        # Nobody reads standard output, so write to the server's log.
        log_to_stderr(log_json=True, level=logging.WARNING)
        addresses = Addresses(public_url, public_address, BotAddress(server, bool(tls)))
        sites = Sites(host_and_port(listen)[0], web_origin, addresses.origin)
        rules = RequestRules(
            proxies=networks(proxies) if proxies else (),
            sites=sites,
            addresses=addresses,
            frames=frame_ancestors(embed_origins),
        )
        nodes = enumerate(unix_sockets, start=int(first_node))
        several = len(unix_sockets) > 1
        servers = {
            f"Node {number}" if several else "": partial(connect, at_socket(Path(path))) for number, path in nodes
        }
        with opening_directory(Path(data)) as open_source:
            run(open_source, sockets, lambda: None, rules, servers, PlaySocket(unix_sockets, sites))


if __name__ == "__main__":
    main(*sys.argv[1:])
