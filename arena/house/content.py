"""The content of a house bot's version: the text of the modules that decide its choices, and nothing else.

A version is worked out anew at every start, so no edit can be forgotten; whoever touches a bot's module, if only a
comment, has made another bot, with a rating of its own. The engine's text is no part of it: a rule that changes is
another game, and `tests/house` pins each bot's choices over whole games, which shows what the engine changes in them.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

DIGITS: Final = 8
"""Hexadecimal digits of a version."""


def version(*modules: str) -> str:
    """The version of a bot that these modules make, named in any order: its own and those of the house it imports.

    The first digits of the SHA-256 of their texts, line ends as on Unix. OSError where there is no source text.
    """
    digest = sha256()
    for name in sorted(modules):
        source = Path(sys.modules[name].__file__ or name).with_name(f"{name.rpartition('.')[2]}.py")  # beside a build
        digest.update(source.read_text("utf-8").encode())
    return digest.hexdigest()[:DIGITS]
