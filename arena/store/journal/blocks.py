# Compiled: every decision passes through here.
"""The blocks of a journal file: writing the block of a commit, and reading blocks from a damaged file.

A commit is a block: the line `crc32 bytes`, then a line `match object` for each input. If only one byte of a block was
changed, the checksum shows which one, and the reader repairs it. A block with more damage is lost, and nothing shows to
which matches it belonged. Reading continues with the next whole block.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

_BEGINNING: Final = re.compile(rb"([0-9a-f]{8}) (?:([0-9]{1,12})\n|[0-9]+ \{)")
"""The first bytes of a block, or of a line with its own checksum, as older servers wrote them."""
_LINE: Final = re.compile(rb"[0-9]+ ")
_STATED: Final = re.compile(rb"([0-9a-f]{8}) ([0-9]{1,12})\n")
_ONES: Final = 0xFFFFFFFF


class Damage(NamedTuple):
    """An unreadable part of a file. It may have contained lines of any match that had started."""


Found: TypeAlias = tuple[int, str] | Damage
"""Item that `read_blocks` yields: a line (match number and text) or a damaged part."""


class _Block(NamedTuple):
    start: int
    end: int
    body: bytes


def encode_block(lines: Sequence[str]) -> bytes:
    """Encode a commit as a block. Each of the `lines` has the form `match object`."""
    return frame("\n".join(lines).encode())


def frame(body: bytes) -> bytes:
    """Encode lines of the form `match object`, separated by newlines, as a block."""
    return b"%08x %d\n%b\n" % (crc32(body), len(body), body)


def block_length(content: bytes) -> int:
    """Return the length of the block at the start of `content`, even if it is cut off; 0 if there is none."""
    stated = _STATED.match(content)
    return 0 if stated is None else stated.end() + int(stated[2]) + 1


def select_lines(content: bytes, wanted: Collection[bytes]) -> tuple[list[bytes], int]:
    """Return the lines of the `wanted` matches in the complete blocks at the start of `content`.

    Also return the total length of these blocks.
    """
    lines: list[bytes] = []
    at = 0
    while (stated := _STATED.match(content, at)) is not None:
        start = stated.end()
        end = start + int(stated[2])
        body = content[start:end]
        if end >= len(content) or crc32(body) != int(stated[1], 16):
            break
        lines += [line for line in body.split(b"\n") if line.partition(b" ")[0] in wanted]
        at = end + 1
    return lines, at


def read_blocks(content: bytes, newest: bool) -> Iterator[Found]:
    """Yield the lines of a file and its damaged parts, in order.

    The newest file may end with an incomplete commit if the server or the machine crashed. This does not count as
    damage, because no message that depends on that commit was sent.
    """
    known = 0
    block: _Block | None
    for block in chain(_whole_blocks(content), (None,)):
        start = len(content) if block is None else block.start
        if known < start:
            body = _mended(content[known:start])
            if body is not None:
                yield from _lines(body)
            elif block is not None or not newest:
                yield Damage()
        if block is not None:
            yield from _lines(block.body)
            known = block.end


def _lines(body: bytes) -> Iterator[tuple[int, str]]:
    for line in body.decode().split("\n"):
        match_id, _, text = line.partition(" ")
        yield int(match_id), text


def _mended(unread: bytes) -> bytes | None:
    """Return a block's body after repairing its single changed byte, or None if there is more damage."""
    for digits in range(1, 13):
        head = 10 + digits
        body = unread[head : max(head, len(unread) - 1)]
        if len(str(len(body))) != digits:
            continue
        if _sound(body) and _differ(frame(body), unread) == 1:
            return body  # The changed byte is outside the body.
        stated = _STATED.fullmatch(unread[:head])
        if stated is not None and int(stated[2]) == len(body) and unread.endswith(b"\n"):
            changes = [*_single_changes(body, int(stated[1], 16))]
            if len(changes) == 1:
                at, flip = changes[0]
                body = body[:at] + bytes([body[at] ^ flip]) + body[at + 1 :]
                return body if _sound(body) else None
    return None


def _differ(one: bytes, other: bytes) -> int:
    """Count the differing bytes; −1 if the lengths differ."""
    return sum(map(int.__ne__, one, other)) if len(one) == len(other) else -1


def _single_changes(body: bytes, wanted: int) -> Iterator[tuple[int, int]]:
    """Yield each one-byte change that gives a body the wanted checksum, as a position and the byte to XOR there.

    A CRC is linear. The effect of a changed byte depends only on the change and on the byte's distance from the end. So
    we trace the difference between the two checksums back byte by byte. At some positions, a single changed
    byte explains it.
    """
    effects = [crc32(bytes([value]), _ONES) ^ _ONES for value in range(256)]
    of_effect = {effect: value for value, effect in enumerate(effects)}
    by_top = {effect >> 24: value for value, effect in enumerate(effects)}
    difference = crc32(body) ^ wanted
    for at in range(len(body) - 1, -1, -1):
        flip = of_effect.get(difference, 0)
        if flip:
            yield at, flip
        low = by_top[difference >> 24]
        difference = ((difference ^ effects[low]) << 8 & _ONES) | low


def _whole_blocks(content: bytes) -> Iterator[_Block]:
    """Yield every block with a correct checksum, at any position."""
    at = 0
    while (found := _BEGINNING.search(content, at)) is not None:
        start = found.start()
        if found[2] is None:
            first, last = start + 9, content.find(b"\n", start)
        else:
            first = found.end()
            last = first + int(found[2])
        at = start + 1
        if last < first or not content.startswith(b"\n", last):
            continue
        body = content[first:last]
        if int(found[1], 16) == crc32(body) and _sound(body):
            at = last + 1
            yield _Block(start, at, body)


def _sound(body: bytes) -> bool:
    """Return true if every line of a body names a match."""
    return all(map(_LINE.match, body.split(b"\n")))
