"""Command line and environment to run a module of this program as another process with the same interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def command(module: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs a module; modules in the current directory are not found (-P)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> Mapping[str, str]:
    """Return this process's environment with a PYTHONPATH on which the same modules are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}


OWN_GROUP = 0
"""Value of `process_group`: Ctrl-C in a terminal reaches only the parent, which then ends its helpers in order."""
