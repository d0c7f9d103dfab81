"""The Unix socket at which every server listens besides its address, for those who have its data directory.

The operator's verbs and the server's own pages come in there: no token of the operator leaves the machine, and neither
TLS nor the address nor the number of processes matters.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.transport.sockets import LONGEST_UNIX_PATH

if TYPE_CHECKING:
    from arena.server.config import Config

SOCKET: Final = "arena.socket"


@contextmanager
def with_socket(config: Config) -> Iterator[Config]:
    """Yield the configuration with a Unix socket: in the data directory, unless --unix-socket names one.

    Where the data directory cannot hold it, because of its file system or the length of its path, it is in a temporary
    directory for the block.
    """
    if config.transport.unix_socket is not None:
        yield _listening_at(config, config.transport.unix_socket.absolute())
    elif _can_hold_sockets(data := config.data.absolute()):
        yield _listening_at(config, data / SOCKET)
    else:
        with tempfile.TemporaryDirectory(prefix="arena-") as directory:
            yield _listening_at(config, Path(directory) / SOCKET)


def _listening_at(config: Config, path: Path) -> Config:
    return replace(config, transport=replace(config.transport, unix_socket=path))


def _can_hold_sockets(directory: Path) -> bool:
    """Return whether a socket can be made in a directory, and its path be told to gRPC, which splits it at commas."""
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
