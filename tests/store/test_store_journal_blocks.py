"""Damaged blocks of a journal file: no match is read with a gap, and a single changed byte is repaired."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from zlib import crc32

import pytest

from arena.store.journal.blocks import Damage, encode_block, read_blocks

MATCHES = (1, 7, 12, 17, 123_456)


def lines_of(commit: int) -> list[tuple[int, str]]:
    """A strategy for commits of one to four rows, some of the same match."""
    chance = Random(commit)
    return [
        (match, f'{{"in":"acted","at":{commit * 1000 + line},"seat":{match % 3}}}')
        for line, match in enumerate(chance.choices(MATCHES, k=chance.randint(1, 4)))
    ]


COMMITS = [lines_of(commit) for commit in range(12)]
BLOCKS = [encode_block([f"{match} {text}" for match, text in lines]) for lines in COMMITS]
CONTENT = b"".join(BLOCKS)
TRUE = {match: [text for lines in COMMITS for each, text in lines if each == match] for match in MATCHES}


def read(content: bytes, newest: bool = True) -> tuple[dict[int, list[str]], set[int]]:
    """Return the lines of each match, and the damaged matches."""
    lines: dict[int, list[str]] = {match: [] for match in MATCHES}
    damaged: set[int] = set()
    for found in read_blocks(content, newest):
        if isinstance(found, Damage):
            damaged |= set(MATCHES)
        else:
            lines[found[0]].append(found[1])
    return lines, damaged


def oldest(lines: Sequence[tuple[int, str]]) -> bytes:
    """Return a commit in the format of the first servers."""
    bodies = [f"{match} {text}".encode() for match, text in lines]
    return b"".join(b"%08x %b\n" % (crc32(body), body) for body in bodies)


def test_what_is_whole_is_read(subtests: pytest.Subtests) -> None:
    for newest in (False, True):
        with subtests.test(newest=newest):
            assert read(CONTENT, newest) == (TRUE, set())
            assert read(b"".join(map(oldest, COMMITS)), newest) == (TRUE, set())


@pytest.mark.parametrize("flip", [0x01, 0x02, 0x10, 0x80, 0xFF])
def test_one_changed_byte_costs_nothing_wherever_it_is(flip: int) -> None:
    for at in range(len(CONTENT)):
        assert read(CONTENT[:at] + bytes([CONTENT[at] ^ flip]) + CONTENT[at + 1 :]) == (TRUE, set()), at


@pytest.mark.parametrize("byte", [b"\n", b" ", b"0", b"{", b"a"])
def test_a_byte_that_means_something_elsewhere_costs_nothing(byte: bytes) -> None:
    for at in range(len(CONTENT)):
        assert read(CONTENT[:at] + byte + CONTENT[at + 1 :]) == (TRUE, set()), at


def test_a_changed_byte_of_each_of_several_commits_costs_nothing() -> None:
    changed = [block[:at] + b"?" + block[at + 1 :] for at, block in enumerate(BLOCKS)]
    whole = b"".join(block if number % 2 else changed[number] for number, block in enumerate(BLOCKS))
    assert read(whole) == (TRUE, set())


def test_two_changed_bytes_of_a_commit_cost_all_that_had_begun_but_nothing_after() -> None:
    """The repair must not mistake two changed bytes for a single one elsewhere."""
    content = BLOCKS[2]
    for at in range(21, len(content) - 1):
        bad = content[:20] + bytes([content[20] ^ 1]) + content[21:at] + bytes([content[at] ^ 4]) + content[at + 1 :]
        found = list(read_blocks(bad + encode_block(['99 {"in":"begun"}']), newest=True))
        assert found == [Damage(), (99, '{"in":"begun"}')], at


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_overwritten_no_match_is_read_with_a_gap(seed: int) -> None:
    chance = Random(seed)
    for _ in range(300):
        start = chance.randrange(len(CONTENT) - 1)
        end = chance.randrange(start + 1, min(len(CONTENT), start + 1000))
        fill = chance.choice([bytes(end - start), chance.randbytes(end - start)])
        lines, damaged = read(CONTENT[:start] + fill + CONTENT[end:], newest=False)
        assert all(lines[match] == TRUE[match] for match in MATCHES if match not in damaged), (start, end, fill)


def test_a_newest_file_cut_off_anywhere_ends_with_a_whole_commit() -> None:
    ends = [sum(map(len, BLOCKS[:commit])) for commit in range(len(BLOCKS) + 1)]
    for cut in range(len(CONTENT)):
        lines, damaged = read(CONTENT[:cut])
        assert damaged == set()
        whole = sum(cut >= end for end in ends[1:])
        assert lines == {
            match: [text for commit in COMMITS[:whole] for each, text in commit if each == match] for match in MATCHES
        }


def test_damage_in_what_the_oldest_servers_wrote_costs_all_that_had_begun_but_nothing_after() -> None:
    old = b"".join(map(oldest, COMMITS))
    at = old.index(b"acted")
    content = old[:at] + b"b" + old[at + 1 :] + encode_block(['99 {"in":"begun"}'])
    found = list(read_blocks(content, newest=True))
    assert Damage() in found
    assert found[-1] == (99, '{"in":"begun"}')


def test_a_changed_byte_of_a_long_commit_costs_nothing() -> None:
    text = "x" * 300_000
    whole = encode_block([f"1 {text}"])
    for at in (20, 150_000, len(whole) - 2):
        assert list(read_blocks(whole[:at] + b"y" + whole[at + 1 :], newest=False)) == [(1, text)]
