"""Specifications of bots that are commands, as on the command line, and the commands that start these bots."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from arena.local.errors import BotNotLoaded
from arena.processes import launch

COMMAND: Final = "cmd:"
"""Prefix of a command that speaks the gRPC protocol."""
PIPE: Final = "pipe:"
"""Prefix of a command that speaks JSON lines, short for `arena-bot pipe -- COMMAND`."""
LONGEST_NAME: Final = 40
"""Maximum length of a bot's name, as on a server."""


def is_command(spec: str) -> bool:
    """Return True if a specification names a command."""
    return spec.startswith((COMMAND, PIPE))


def words_of(spec: str) -> tuple[str, ...]:
    """Return the words of the command in a bot's specification.

    Raises:
        BotNotLoaded: the command line is invalid.
    """
    text = spec.partition(":")[2]
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BotNotLoaded(spec, f"its words cannot be split: {error}") from None
    if not words:
        raise BotNotLoaded(spec, f"it has no command: write {COMMAND}'./mybot --flag'")
    if shutil.which(words[0]) is None:
        there = Path(words[0]).is_file()
        why = f"{words[0]} is no program: chmod +x it, or name its interpreter" if there else _missing(words[0])
        raise BotNotLoaded(spec, why)
    if spec.startswith(PIPE):
        return (*launch.command("arena_client", ["pipe", "--"]), *words)
    return tuple(words)


def version_of(spec: str) -> str:
    """Return the version of a command: a digest of its words and of the files that they name.

    Raises:
        BotNotLoaded: the command line is invalid.
    """
    words_of(spec)
    digest = hashlib.sha256()
    for word in shlex.split(spec.partition(":")[2]):
        digest.update(f"{len(word)} {word}".encode())
        if (file := Path(word)).is_file():
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:16]


def names_of(specs: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names for bots: the names of their files, with numbers where needed."""
    seen: Counter[str] = Counter()
    names = []
    for spec in specs:
        name = _name(spec)
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return tuple(names)


def _name(spec: str) -> str:
    if not is_command(spec):
        return _allowed(Path(spec.partition(":")[0]).stem)
    words: Sequence[str] = shlex.split(spec.partition(":")[2])
    files = [word for word in words[1:] if Path(word).is_file()]
    return _allowed(Path((files or words)[0]).stem)


def _allowed(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).strip("-._")[: LONGEST_NAME - 4] or "bot"


def _missing(word: str) -> str:
    return f"there is no command {word}" + ("" if "/" in word else f"; a program of this folder is written ./{word}")
