"""Run every benchmark of the folder in turn, each in its own Python process; `--json` prints one object."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Final

import click

COMMANDS: Final = (
    "engine",
    "vector_env",
    "vector_env --compiled",
    "play",
    "play --compiled",
    "sdks",
    "echo",
    "turns",
    "turns --compiled",
    "ladder",
    "events",
    "listings",
    "pages",
    "writers --store postgresql --compiled",
    "steps",
    "crawl",
    "viewers",
    "growth",
    "local",
    "local_commands",
)
"""Modules of `bench` with their arguments, in the order of the README."""


@click.command(help="Measure every figure the README quotes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(as_json: bool) -> None:
    """Run all benchmarks; exit with the status of the first benchmark that failed or missed its bar, else with 0."""
    figures, status = {}, 0
    for name in COMMANDS:
        module, *arguments = name.split()
        command = [sys.executable, "-m", f"bench.{module}", *arguments]
        ran = subprocess.run(
            [*command, "--json"] if as_json else command, check=False, text=True, stdout=subprocess.PIPE
        )
        status = status or ran.returncode
        if not as_json:
            print(ran.stdout, flush=True)
        elif ran.stdout:
            figures[name] = json.loads(ran.stdout)
    if as_json:
        print(json.dumps(figures, indent=2))
    sys.exit(status)


if __name__ == "__main__":
    main()
