"""Train a network for Nullern for two by playing against itself. Start the program again to continue after an
interruption.

    python examples/learner/train.py [--batches 300] [--one-process]

One process plays and another learns. The folder contains `training.npz`, from which training continues. Whenever the
strength is measured, and at the end, the program writes `network.npz` for `bot.py`, `curve.json` and its picture
`curve.svg`. The printed times are the processor time of both processes, without the measurements.
"""

from __future__ import annotations

import os

# set before numpy is imported: each of the two processes uses one core
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent

import click
from checkpoint import Checkpoint, CheckpointError
from curve import draw
from learning import Learned
from player import PlayerDiedError
from training import Asked, train
from weights import write

DEFAULTS = Asked()


@click.command(help=(__doc__ or "").replace("    python", "\b\n    python"))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=HERE / "trained",
    help="Its folder; by default where bot.py looks.",
)
@click.option("--batches", default=DEFAULTS.batches, show_default=True, type=click.IntRange(1))
@click.option("--games", default=DEFAULTS.games, show_default=True, type=click.IntRange(1), help="Matches of a batch.")
@click.option("--hidden", default=DEFAULTS.hidden, show_default=True, type=click.IntRange(1), help="Width of a layer.")
@click.option("--seed", default=DEFAULTS.seed, show_default=True, type=click.IntRange(0, (1 << 63) - 1))
@click.option(
    "--measured",
    default=DEFAULTS.measured,
    show_default=True,
    type=click.IntRange(0),
    help="After so many batches; 0: never.",
)
@click.option("--deals", default=DEFAULTS.deals, show_default=True, type=click.IntRange(2), help="Of a measurement.")
@click.option("--one-process", is_flag=True, help="Play and learn by turns; the result is the same.")
def main(
    out: Path, batches: int, games: int, hidden: int, seed: int, measured: int, deals: int, one_process: bool
) -> None:
    """Train, and print the measurements."""
    asked = Asked(batches, games, hidden, seed, measured, deals)

    def told(now: Checkpoint, learned: Learned | None) -> None:
        if learned is None:
            click.echo(f"batch {now.batches} of {asked.batches}, {now.seconds:.0f} s of processor time so far")
        elif now.curve and now.curve[-1]["batches"] == now.batches:
            results(now, out)
            won = ", ".join(
                f"{each['opponent']} {100 * each['won']:.1f} ± {100 * each['interval']:.1f} %"
                for each in now.curve[-1]["strengths"]
            )
            click.echo(f"batch {now.batches}, {now.seconds:.0f} s: entropy {learned.entropy:.2f}, won against {won}")

    try:
        results(train(asked, out, beside=not one_process, told=told), out)
    except (CheckpointError, PlayerDiedError, OSError) as error:
        raise click.ClickException(str(error)) from error


def results(now: Checkpoint, out: Path) -> None:
    """Write the network, the curve and its picture.

    Raises: OSError.
    """
    out.mkdir(parents=True, exist_ok=True)
    write(now.weights, out / "network.npz")
    if now.curve:
        (out / "curve.json").write_text(json.dumps(now.curve, indent=1) + "\n")
        (out / "curve.svg").write_text(draw(now.curve))


if __name__ == "__main__":
    main()
