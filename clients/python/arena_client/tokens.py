"""Storage of a bot's token between runs: a small file that only its owner can read, if the system has file modes."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from pathlib import Path


def default_token_file(address: str, name: str) -> Path:
    """Return the token file for one bot on one server, in the user's home.

    As on the server, the name's case does not matter.
    """
    safe_address, safe_name = (re.sub(r"[^a-z0-9._-]", "_", text.lower()) for text in (address, name))
    return Path.home() / ".arena" / "tokens" / f"{safe_address}-{safe_name}.token"


def read_token(file: Path) -> str | None:
    """Return the token in the file; None if the file is missing or empty."""
    try:
        return file.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None


def write_token(file: Path, token: str) -> None:
    """Store a token in a file, atomically. Raises OSError if the file cannot be written."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_private(file, f"{token}\n".encode("ascii"))


def replace_private(file: Path, content: bytes) -> None:
    """Replace a file atomically. Only its owner can read it. Raises: OSError: It cannot be written."""
    descriptor, whole = tempfile.mkstemp(dir=file.parent, prefix=".new-")  # mode 0600 where modes exist
    try:
        with os.fdopen(descriptor, "wb") as draft:
            draft.write(content)
            draft.flush()
            os.fsync(draft.fileno())
        Path(whole).replace(file)
    except OSError:
        Path(whole).unlink(missing_ok=True)
        raise


class NewToken:
    """A token for a bot that is about to register. Until the server answers, it is in a file beside its final one.

    So a full disk or a lost answer does no harm, because the next try sends the same token.
    """

    def __init__(self, file: Path) -> None:
        """Use the token that an earlier try left beside `file`, or create one. Raises: OSError."""
        self._file = file
        self._draft = file.with_name(f"{file.name}.new")
        if (offered := read_token(self._draft)) is not None:
            self.token = offered
            return
        self.token = f"arena_{secrets.token_urlsafe(32)}"
        write_token(self._draft, self.token)

    def keep(self, token: str) -> None:
        """Store the token from the server's answer in the final file, atomically."""
        if token != self.token:  # an older server, which creates tokens itself
            write_token(self._draft, token)
        self._draft.replace(self._file)

    def drop(self) -> None:
        """Delete the token that the server refused."""
        self._draft.unlink(missing_ok=True)
