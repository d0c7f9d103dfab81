"""Where a bot's token is kept between runs: a small file of its own, readable only by its owner where modes exist."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path


def default_token_file(address: str, name: str) -> Path:
    """The file for one bot on one server, in the user's home. As on the server, capitals make no difference."""
    safe_address, safe_name = (re.sub(r"[^a-z0-9._-]", "_", text.lower()) for text in (address, name))
    return Path.home() / ".arena" / "tokens" / f"{safe_address}-{safe_name}.token"


def read_token(file: Path) -> str | None:
    """The token in the file; None where there is no file or nothing in it."""
    try:
        return file.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None


class NewToken:
    """A place for a token, taken before there is one: it is shown once and must not be lost to a full disk."""

    def __init__(self, file: Path) -> None:
        """Makes room beside `file`. Raises OSError where nothing can be written."""
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, draft = tempfile.mkstemp(dir=file.parent, prefix=".token-")  # mode 0600 where modes exist
        self._draft = Path(draft)
        os.write(descriptor, b" " * 256)
        os.close(descriptor)

    def keep(self, token: str) -> None:
        """Puts the token in its place: whoever reads the file sees the old one or the new one, whole."""
        with self._draft.open("r+", encoding="ascii") as draft:
            draft.write(token + "\n")
            draft.truncate()
            draft.flush()
            os.fsync(draft.fileno())
        self._draft.replace(self._file)

    def drop(self) -> None:
        """Gives the room back where there will be no token."""
        with contextlib.suppress(FileNotFoundError):
            self._draft.unlink()
