"""Environment variables with which a benchmark's processes run the build of `make compiled`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

ROOT: Final = Path(__file__).parent.parent
COMPILED: Final = ROOT / "build" / "compiled"

option = click.option("--compiled", is_flag=True, help="Use the compiled build of `make compiled`.")


def environment(compiled: bool = True) -> dict[str, str]:
    """Return the environment for the compiled build, or for the sources. Raises UsageError if the build is missing."""
    if not compiled:
        return {**os.environ, "ARENA_BUILD": "sources"}
    if not COMPILED.is_dir():
        raise click.UsageError(f"{COMPILED.relative_to(ROOT)} is not there: run make compiled")
    path = os.pathsep.join(filter(None, (str(COMPILED), str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": path}
