"""Runs every benchmark of the folder in turn, each in a Python of its own; `--json` prints one object."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys

import click

import bench


@click.command(help="Measure every figure the README quotes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(as_json: bool) -> None:
    """Ends with the first benchmark that fails, and with its status."""
    figures = {}
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name.startswith("_"):
            continue
        command = [sys.executable, "-m", f"bench.{module.name}"]
        ran = subprocess.run(
            [*command, "--json"] if as_json else command, check=False, text=True, stdout=subprocess.PIPE
        )
        if ran.returncode:
            sys.exit(ran.returncode)
        if as_json:
            figures[module.name] = json.loads(ran.stdout)
        else:
            print(ran.stdout, flush=True)
    if as_json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
