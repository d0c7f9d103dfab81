"""Cost and benefit of a fit without BLAS: inverses of its matrices by its own code and by LAPACK.

    python -m studies.blas [--size 200 …] [--json]

The matrices are like those of a ladder with so many versions. Each is inverted in a process with one BLAS thread and in
one with two. Shown is the least time of several, and whether both results are equal to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from math import inf
from time import perf_counter
from typing import Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from arena.ladder.fit import Floats, inverse

ROUNDS: Final = 7
THREADS: Final = (1, 2)


def lapack(matrix: Floats) -> Floats:
    """Invert a matrix with NumPy, which uses LAPACK."""
    return np.asarray(np.linalg.inv(matrix), np.float64)


WAYS: Final[dict[str, Callable[[Floats], Floats]]] = {"its own": inverse, "LAPACK": lapack}


def measure(size: int) -> dict[str, tuple[float, str]]:
    """Measure milliseconds and digest of an inverse in this process, by implementation."""
    pairs = np.random.default_rng(6).random((size, size))
    weights = pairs + pairs.T
    matrix = np.diag(weights.sum(axis=1) + 0.5) - weights
    found = {}
    for way, invert in WAYS.items():
        best = inf
        for _ in range(ROUNDS):
            began = perf_counter()
            inverted = invert(matrix)
            best = min(best, perf_counter() - began)
        found[way] = 1e3 * best, hashlib.sha256(inverted.tobytes()).hexdigest()
    return found


def compare(size: int) -> dict[str, dict[str, float | bool]]:
    """Compare by implementation: milliseconds with each number of threads, and whether results are identical."""
    runs = []
    for threads in THREADS:
        command = [sys.executable, "-m", "studies.blas", "once", str(size)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        runs.append(json.loads(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout))
    return {
        way: {f"ms_{threads}": run[way][0] for threads, run in zip(THREADS, runs, strict=True)}
        | {"same_bits": len({run[way][1] for run in runs}) == 1}
        for way in WAYS
    }


@click.group(invoke_without_command=True)
@click.option("--size", "sizes", type=click.IntRange(2), multiple=True, default=(200, 600), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def main(context: click.Context, sizes: Sequence[int], as_json: bool) -> None:
    """Compare inverses with and without LAPACK."""
    if context.invoked_subcommand is not None:
        return
    found = {size: compare(size) for size in sizes}
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    table = Table(title="Milliseconds of an inverse, by threads that BLAS may use")
    for heading in ("versions", "by", *(f"with {threads}" for threads in THREADS), "same bits"):
        table.add_column(heading, justify="left" if heading == "by" else "right")
    for size, ways in found.items():
        for way, figures in ways.items():
            times = [f"{figures[f'ms_{threads}']:,.1f}" for threads in THREADS]
            table.add_row(str(size), way, *times, "yes" if figures["same_bits"] else "no")
    Console().print(table)


@main.command("once", hidden=True)
@click.argument("size", type=int)
def _once_command(size: int) -> None:
    click.echo(json.dumps(measure(size)))


if __name__ == "__main__":
    main()
