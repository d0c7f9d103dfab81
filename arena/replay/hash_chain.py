# Compiled: every decision passes through here.
"""The hash chain over the lines of a replay, and the gzip file around them.

Digest 0 is 32 zero bytes; digest i = SHA-256(digest i−1 ‖ body i), where the body is the line without its last 76 bytes
`,"chain":"<64 hex digits>"}`. A line that is changed, removed, added or moved breaks the chain at that point.
Servers store replays without the chain, which can be recomputed and would be three quarters of the packed file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from hashlib import sha256
from typing import Final, NamedTuple

LIMIT: Final = 64 << 20
"""Maximum size of an unpacked replay in bytes."""
_OPENING: Final = ',"chain":"'
_CLOSING: Final = '"}'
_SUFFIX: Final = len(_OPENING) + 2 * sha256().digest_size + len(_CLOSING)
_GZIP: Final = 31  # zlib's number for a gzip header and the largest window
# digests hardly compress; the default level would save a tenth of the size but take three times as long
_LEVEL: Final = 1
_MAGIC: Final = b"\x1f\x8b"


class PackingError(ValueError):
    """A file that is not one intact gzip member of at most `LIMIT` unpacked bytes. The message states the reason."""


class PackedReplay(NamedTuple):
    """A replay in its stored form."""

    content: bytes
    """The gzip file, without the chain."""
    text: bytes | None
    """SHA-256 of the replay's text without the chain, or None without a text."""


class Chain:
    """State of the hash chain: the digest over the lines so far."""

    __slots__ = ("_digest",)

    def __init__(self) -> None:
        self._digest = bytes(sha256().digest_size)

    def line(self, text: str) -> str:
        """Return the next line, a JSON object without newline, with its chain field appended."""
        body = text[:-1]
        self._digest = sha256(self._digest + body.encode()).digest()
        return f"{body}{_OPENING}{self._digest.hex()}{_CLOSING}"


def without_chain(line: str) -> str | None:
    """Remove the chain field at the end of a line. Return None if there is none."""
    ends = line[-_SUFFIX : len(_OPENING) - _SUFFIX] == _OPENING and line.endswith(_CLOSING)
    return f"{line[:-_SUFFIX]}}}" if ends else None


def with_chain(content: bytes) -> bytes:
    """Add the chain to a packed replay. Return it unchanged if it has a chain. Raises: PackingError."""
    lines = unpack(content).decode().split("\n")[:-1]
    return content if without_chain(lines[0]) else pack(map(Chain().line, lines))


def pack(lines: Iterable[str]) -> bytes:
    """Pack lines with newlines into gzip without a timestamp, so that equal lines give equal bytes."""
    return pack_replay(lines).content


def pack_replay(lines: Iterable[str]) -> PackedReplay:
    """Pack lines as `pack` does, and also return the digest of their text."""
    text = "\n".join([*lines, ""]).encode()
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return PackedReplay(packer.compress(text) + packer.flush(), sha256(text).digest())


def text_digest(content: bytes) -> bytes | None:
    """Return the SHA-256 of a packed replay's text without its chain, or None if it is damaged or empty."""
    try:
        text = unpack(content)
        lines = text.decode().split("\n")
    except ValueError:
        return None
    bare = [without_chain(line) for line in lines[:-1]]
    if None not in bare:
        text = "".join(f"{line}\n" for line in bare).encode()
    return sha256(text).digest()


def unpack(content: bytes) -> bytes:
    """Unpack a gzip file. Raises: PackingError: It is damaged."""
    if not content.startswith(_MAGIC):
        raise PackingError("it is not a gzip file")
    unpacker = zlib.decompressobj(wbits=_GZIP)
    try:
        text = unpacker.decompress(content, LIMIT + 1)
    except zlib.error as error:
        raise PackingError(f"its gzip data is damaged ({error})") from None
    if len(text) > LIMIT:
        raise PackingError(f"it unpacks to more than {LIMIT >> 20} MiB, which no match needs")
    if not unpacker.eof:
        raise PackingError("its gzip data ends too early: the file is cut off")
    if unpacker.unused_data:
        raise PackingError(f"{len(unpacker.unused_data)} bytes follow the end of its gzip data")
    return text
