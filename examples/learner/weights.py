"""A trained network as a file, with weights in float16: half the size without a loss of strength."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

import numpy as np
from encoding import CHOICES
from network import NetworkError, Weights, check_weights

_NAMES: Final = tuple(f"weights_{number}" for number in range(6))


class WeightsError(ValueError):
    """Raised for a file that is not a trained network for this game and table. The message contains the remedy."""


def write(weights: Weights, file: Path) -> None:
    """Write a network to a file, atomically.

    Raises: OSError.
    """
    new = file.with_name(f"{file.name}.new")
    with new.open("wb") as opened:
        np.savez_compressed(opened, **dict(zip(_NAMES, (each.astype(np.float16) for each in weights), strict=True)))  # type: ignore[arg-type]
    new.replace(file)


def read(file: Path, size: int) -> Weights:
    """Read a network with a given number of inputs.

    Raises: WeightsError.
    """
    if not file.is_file():
        raise WeightsError(f"there is no file {file}: train.py writes one")
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            weights = [arrays[name].astype(np.float32) for name in _NAMES]
        check_weights(weights, size, CHOICES)
    except (
        OSError,
        EOFError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        NetworkError,
    ) as error:
        raise WeightsError(f"{file} is no network for this game and table ({error}): train.py writes one") from error
    return weights
