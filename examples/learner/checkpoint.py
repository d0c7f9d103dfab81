"""The state of training, stored so that training can continue after any interruption: two sets of weights, Adam's
means, and the progress.

A checkpoint is one file in numpy's format, `training.npz`, written under another name and then renamed. So a kill
leaves either the old or the new file, complete.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from network import Adam, NetworkError, Weights, check_weights

FILE: Final = "training.npz"
_ABOUT: Final = "about"
_FORMAT: Final = 1


class CheckpointError(ValueError):
    """Raised if a checkpoint is incomplete or belongs to another training. The message states the cause and the
    remedy.
    """


class Checkpoint(NamedTuple):
    """The state of training between two batches."""

    weights: Weights
    before: Weights
    """The weights from one batch earlier; the next batch is played with them."""
    adam: Adam
    batches: int
    """Number of batches learned so far."""
    seconds: float
    """Processor time spent on playing and learning so far."""
    curve: list[dict[str, Any]]
    """Measurements so far: the fields of `strength.Strength`, with batches and seconds."""


def save(checkpoint: Checkpoint, about: dict[str, Any], folder: Path) -> None:
    """Write a checkpoint into a folder, together with `about`, the arguments of the training.

    Raises: OSError.
    """
    arrays = {
        f"{name}_{number}": array
        for name, group in (
            ("weights", checkpoint.weights),
            ("before", checkpoint.before),
            ("means", checkpoint.adam.means),
            ("squares", checkpoint.adam.squares),
        )
        for number, array in enumerate(group)
    }
    words = {
        "format": _FORMAT,
        "asked": about,
        "arrays": len(checkpoint.weights),
        "steps": checkpoint.adam.steps,
        "batches": checkpoint.batches,
        "seconds": checkpoint.seconds,
        "curve": checkpoint.curve,
    }
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{FILE}.new"
    with new.open("wb") as file:
        np.savez(file, **arrays, **{_ABOUT: np.frombuffer(json.dumps(words).encode(), np.uint8)})  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / FILE)


def load(folder: Path, about: dict[str, Any], size: int, choices: int) -> Checkpoint | None:
    """Return the checkpoint in a folder; None if there is none.

    Raises: CheckpointError: the file is incomplete, or its training's arguments or its network do not fit.
    """
    file = folder / FILE
    if not file.exists():
        return None
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            words = json.loads(arrays[_ABOUT].tobytes())
            if words["format"] != _FORMAT:
                raise CheckpointError(f"{file} is of format {words['format']}, this program reads {_FORMAT}")
            weights, before, means, squares = (
                [arrays[f"{name}_{number}"] for number in range(words["arrays"])]
                for name in ("weights", "before", "means", "squares")
            )
        check_weights(weights, size, choices)
        check_weights(before, size, choices)
        shapes = [each.shape for each in weights]
        if any([each.shape for each in group] != shapes for group in (means, squares)):
            raise NetworkError("Adam's means have other shapes than the weights")
        adam = Adam(weights)
        adam.means, adam.squares, adam.steps = means, squares, int(words["steps"])
        asked = words["asked"]
        found = Checkpoint(weights, before, adam, int(words["batches"]), float(words["seconds"]), list(words["curve"]))
    except (OSError, EOFError, zipfile.BadZipFile, KeyError, TypeError, NetworkError) as error:
        raise CheckpointError(f"{file} is no whole checkpoint ({error}): remove it to begin anew") from error
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{file} is no whole checkpoint ({error}): remove it to begin anew") from error
    if asked != about:
        other = ", ".join(
            f"{name} {asked.get(name)}, not {value}" for name, value in about.items() if asked.get(name) != value
        )
        raise CheckpointError(f"{file} is of a training with {other}: train into another folder, or ask for the same")
    return found
