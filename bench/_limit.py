"""The Go program in `bench/limit`: clients that are never the bottleneck, and an echo server that shows the lowest
possible cost.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from bench._compiled import ROOT


@cache
def limit() -> Path | None:
    """Build the program and return its path. If that is impossible, print the reason and return None."""
    go, built = shutil.which("go"), ROOT / "build" / "limit"
    if go is None:
        print("there is no go here: what is measured with a program in Go is left out", file=sys.stderr)
        return None
    command = [go, "build", "-buildvcs=false", "-o", str(built), "."]
    ran = subprocess.run(command, check=False, cwd=ROOT / "bench" / "limit", stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        print(f"bench/limit cannot be built, and what is measured with it is left out: {ran.stderr}", file=sys.stderr)
        return None
    return built
