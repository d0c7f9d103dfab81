"""The pages in a process that a server starts beside itself.

`python -m arena.web.beside_server DATA LISTEN SOCKET PROXIES`; it ends when the server does, however that ends.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from arena.client.directory import opening_directory
from arena.client.remote import connect
from arena.processes.parent import Parent, connected
from arena.transport.proxy_protocol import networks
from arena.web.requests import RequestRules
from arena.web.serving import run


def main(data: str, listen: str, unix_socket: str, proxies: str) -> None:
    """Tell the server the address of the pages, or what is wrong, and show them until it ends.

    `proxies` are those that the server believes whose a connection is, too.
    """
    rules = RequestRules(proxies=networks(proxies) if proxies else ())
    with connected() as parent, opening_directory(Path(data)) as open_source:
        parent.receive()  # what is said before the server asks would be lost with the word that this process is ready
        try:
            run(
                open_source,
                listen,
                "",
                partial(_say, parent),
                rules,
                partial(connect, f"unix:{unix_socket}"),
            )
        except RuntimeError as error:
            parent.send([("", str(error))])


def _say(parent: Parent, address: str) -> None:
    parent.send([(address, "")])


if __name__ == "__main__":
    main(*sys.argv[1:])
