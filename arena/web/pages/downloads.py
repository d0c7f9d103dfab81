"""Files for authors of bots: the Python client and the engine as wheels, and the starters for other languages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

import trio
from starlette.requests import Request
from starlette.responses import Response

from arena.web.answers.addresses import own_addresses
from arena.web.answers.responses import conditional, page
from arena.web.reading.reader import Missing
from arena.wheels import client_wheel, engine_wheel

_ARENA: Final = Path(str(files("arena")))
STARTERS: Final = (_ARENA.parent / "clients" / "starters", _ARENA / "sdks" / "clients" / "starters")
"""The folder of the starters in a checkout, and in an installed arena."""
FILE_TYPE: Final = "application/octet-stream"


class Download(NamedTuple):
    """A file to download."""

    name: str
    purpose: str
    content: bytes
    sha256: str
    """SHA-256 in hex."""


@cache
def downloads() -> Mapping[str, Download]:
    """Return the files by name, the client's wheel first. Packing takes a tenth of a second, once."""
    client, engine = client_wheel(), engine_wheel()
    starters = next(folder for folder in STARTERS if folder.is_dir())
    found = [
        (client[0], "the Python client; its arena-bot connects programs in any language", client[1]),
        (engine[0], "the rules, for bots in Python that search", engine[1]),
        *(
            (path.name, "how to start the starters" if path.suffix == ".md" else "a starter", path.read_bytes())
            for path in sorted(starters.iterdir())
            if path.is_file()
        ),
    ]
    return {name: Download(name, purpose, content, sha256(content).hexdigest()) for name, purpose, content in found}


async def packed_downloads() -> Mapping[str, Download]:
    """Return the files, without blocking other requests meanwhile."""
    return await trio.to_thread.run_sync(downloads)


async def installation(request: Request) -> str:
    """Return pip's arguments for installing the Python client from these pages.

    If the pages do not know their own address, the argument is the name of a downloaded file.
    """
    client = next(iter((await packed_downloads()).values()))
    address = own_addresses(request).pages
    return f"./{client.name}" if address is None else f"{address}/download/{client.name}#sha256={client.sha256}"


async def download_list(request: Request) -> Response:
    """Show the files with their digests."""
    found = [*(await packed_downloads()).values()]
    return page(request, "download.html", files=found, install=await installation(request))


async def download(request: Request) -> Response:
    """Return a file, always as a whole.

    Raises:
        Missing: there is no such file.
    """
    found = (await packed_downloads()).get(request.path_params["name"])
    if found is None:
        raise Missing(f"{request.scope['root']}/download does not have this file")
    headers = {"content-disposition": f'attachment; filename="{found.name}"', "accept-ranges": "none"}
    return conditional(request, found.content, FILE_TYPE, headers)
