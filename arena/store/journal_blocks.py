"""The blocks that a journal file is made of: what a commit writes, and what is found again in a file that was damaged.

A commit is a block of lines, `crc32 bytes` and then `match object` a line, followed by a block with match, length and
sum of each of these lines. A line of a damaged block whose own sum agrees is read all the same, the matches of the
others are named, and reading goes on with the next whole block. Servers from before these sums take them for a line of
a match 0 and ignore them.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Iterator, Sequence
from itertools import chain
from struct import pack, unpack
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

_SUMS: Final = b"0 "
"""The beginning of the only line of a block of sums."""
_BEGINNING: Final = re.compile(rb"([0-9a-f]{8}) (?:([0-9]{1,12})\n|[0-9]+ \{)")
"""Of a block, or of a line with a sum of its own, which is all that the oldest servers wrote."""
_LINE: Final = re.compile(rb"[0-9]+ ")


class Damage(NamedTuple):
    """A part of a file from which not all lines could be read."""

    matches: frozenset[int] | None
    """The matches with lines there that could not be read; None if these may be of any match that had begun."""


Found: TypeAlias = tuple[int, str] | Damage
"""A line, as match and text, or damage after the lines before it."""


class _Block(NamedTuple):
    start: int
    end: int
    body: bytes


def encode_block(lines: Sequence[str], matches: Sequence[int]) -> bytes:
    """Return a commit's bytes from its lines, `match object` each, and the match of each line."""
    body = "\n".join(lines).encode()
    block = _framed(body)
    return block + _sums(len(block), body, matches)


def read_blocks(content: bytes, newest: bool) -> Iterator[Found]:
    """Yield the lines of a file and where it is damaged, in order.

    The end of the newest file may be a commit that was cut off when the server or the machine died: nothing that
    depends on it was sent, and it is no damage.
    """
    known = 0
    before: _Block | None = None
    block: _Block | None
    for block in chain(_whole_blocks(content), (None,)):
        start = len(content) if block is None else block.start
        sums = block is not None and block.body.startswith(_SUMS)
        if known < start:
            unread = content[known:start]
            length, lines = _summed(block.body) if block is not None and sums else (0, [])
            if length == len(unread):
                yield from _rescued(unread, lines)
            elif not (_only_sums(unread, before, content) or (block is None and newest)):
                yield Damage(None)
        if block is None:
            return
        if not sums:
            for line in block.body.decode().split("\n"):
                match_id, _, text = line.partition(" ")
                yield int(match_id), text
        known, before = block.end, None if sums else block


def _framed(body: bytes) -> bytes:
    return b"%08x %d\n%b\n" % (crc32(body), len(body), body)


def _sums(length: int, body: bytes, matches: Sequence[int]) -> bytes:
    """Return the block of sums that follows a block of so many bytes, which has this body."""
    lines, count = body.split(b"\n"), len(matches)
    values = pack(f">Q{count}Q{2 * count}I", length, *matches, *map(len, lines), *map(crc32, lines))
    return _framed(_SUMS + b2a_base64(values, newline=False))


def _summed(body: bytes) -> tuple[int, list[tuple[int, int, int]]]:
    """Return what a block of sums says: the length of the block before it, and match, length and sum of each line.

    Zero and nothing if it is not what this program writes.
    """
    try:
        values = a2b_base64(body[len(_SUMS) :])
    except Error:
        return 0, []
    count, rest = divmod(len(values) - 8, 16)
    if rest or count < 1:
        return 0, []
    length, *numbers = unpack(f">Q{count}Q{2 * count}I", values)
    return length, [*zip(numbers[:count], numbers[count : 2 * count], numbers[2 * count :], strict=True)]


def _rescued(unread: bytes, lines: Sequence[tuple[int, int, int]]) -> Iterator[Found]:
    """Yield the lines of a damaged block that agree with its sums, and the matches of the others."""
    at = len(unread) - sum(length + 1 for _, length, _ in lines)
    lost = set()
    for match_id, length, crc in lines:
        line = unread[at : at + length]
        at += length + 1
        if crc32(line) == crc:
            yield match_id, line.decode().partition(" ")[2]
        else:
            lost.add(match_id)
    if lost:
        yield Damage(frozenset(lost))


def _only_sums(unread: bytes, before: _Block | None, content: bytes) -> bool:
    """Return whether what cannot be read is nothing but the sums of the whole block before it."""
    if before is None:
        return False
    matches = [int(line.partition(b" ")[0]) for line in before.body.split(b"\n")]
    sums = _sums(before.end - before.start, before.body, matches)
    alike = sum(one == other for one, other in zip(sums, unread, strict=False))
    return len(unread) == len(sums) and 2 * alike > len(sums)


def _whole_blocks(content: bytes) -> Iterator[_Block]:
    """Yield every block whose own sum agrees, wherever it begins."""
    at = 0
    while (found := _BEGINNING.search(content, at)) is not None:
        start = found.start()
        if found[2] is None:
            first, end = start + 9, content.find(b"\n", start) + 1
        else:
            first = found.end()
            end = first + int(found[2]) + 1
        body = content[first : end - 1]
        at = start + 1
        if content[end - 1 : end] == b"\n" and int(found[1], 16) == crc32(body) and _sound(body):
            yield _Block(start, end, body)
            at = end


def _sound(body: bytes) -> bool:
    """Return whether every line of a body names a match."""
    return all(map(_LINE.match, body.split(b"\n")))
