"""The version of a house bot: a digest of the source text of the modules that make its choices.

The version is computed at every start, so no change is overlooked. Any change to a bot's module, even to a comment,
makes a new bot with its own rating. The digest does not include the engine, because a game with a changed rule would be
another game. `tests/house` compares each bot's choices over whole games with stored ones, which reveals effects of a
changed engine.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

DIGITS: Final = 8
"""Hexadecimal digits of a version."""


def version(*modules: str) -> str:
    """Return the version of a bot. `modules`: the names of its own modules and of the house modules that they import.

    The version is the first digits of the SHA-256 of their texts, with Unix line ends; the order has no effect.

    Raises:
        OSError: A module's source is missing.
    """
    digest = sha256()
    for name in sorted(modules):
        source = Path(sys.modules[name].__file__ or name).with_name(f"{name.rpartition('.')[2]}.py")  # beside a build
        digest.update(source.read_text("utf-8").encode())
    return digest.hexdigest()[:DIGITS]
