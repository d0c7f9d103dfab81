"""Pages on a free port, requested as by a browser without scripts."""

from __future__ import annotations

import re
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse

from tests.cli.cli_rig import ARENA, PATIENCE


@contextmanager
def browsing(*options: str, log: list[str] | None = None, files: int | None = None) -> Iterator[tuple[str, int]]:
    """Run the pages on any free port. At the end they must stop cleanly.

    `log` receives the lines that the pages log. `files` limits the number of files that they may open.
    """
    command = [*ARENA, "web", "--listen", "127.0.0.1:0", *options]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as pages:
        assert pages.stdout is not None
        try:
            assert select.select([pages.stdout], [], [], PATIENCE)[0], "it says nothing"
            line = pages.stdout.readline().decode()
            found = re.match(r"Pages at http://([\d.]+):(\d+)\S*/; Ctrl-C ends them\.", line)
            assert found, line or pages.communicate(timeout=PATIENCE)
            yield found[1], int(found[2])
        finally:
            pages.send_signal(signal.SIGINT)
            _, errors = pages.communicate(timeout=PATIENCE)
            if log is not None:
                log += errors.decode().splitlines()
    assert pages.returncode == 0
    assert log is not None or errors == b""


def ask(place: tuple[str, int], path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(*place, timeout=PATIENCE)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()
