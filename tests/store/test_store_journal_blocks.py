"""The blocks of a journal file under damage: no match is read with a gap, and one byte costs one match at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from zlib import crc32

import pytest

from arena.store.journal_blocks import Damage, encode_block, read_blocks

MATCHES = (1, 7, 12, 17, 123_456)


def lines_of(commit: int) -> list[tuple[int, str]]:
    """A commit of one to four lines, those of one match sometimes twice."""
    chance = Random(commit)
    return [
        (match, f'{{"in":"acted","at":{commit * 1000 + line},"seat":{match % 3}}}')
        for line, match in enumerate(chance.choices(MATCHES, k=chance.randint(1, 4)))
    ]


COMMITS = [lines_of(commit) for commit in range(12)]
BLOCKS = [
    encode_block([f"{match} {text}" for match, text in lines], [match for match, _ in lines]) for lines in COMMITS
]
CONTENT = b"".join(BLOCKS)
TRUE = {match: [text for lines in COMMITS for each, text in lines if each == match] for match in MATCHES}


def read(content: bytes, newest: bool = True) -> tuple[dict[int, list[str]], set[int]]:
    """The lines of each match, and the matches that are damaged."""
    lines: dict[int, list[str]] = {match: [] for match in MATCHES}
    damaged: set[int] = set()
    for found in read_blocks(content, newest):
        if isinstance(found, Damage):
            damaged |= set(MATCHES) if found.matches is None else found.matches
        else:
            lines[found[0]].append(found[1])
    return lines, damaged


def older(lines: Sequence[tuple[int, str]]) -> bytes:
    """A commit as servers wrote it before there were sums of lines."""
    body = "\n".join(f"{match} {text}" for match, text in lines).encode()
    return b"%08x %d\n%b\n" % (crc32(body), len(body), body)


def oldest(lines: Sequence[tuple[int, str]]) -> bytes:
    """A commit as the first servers wrote it."""
    bodies = [f"{match} {text}".encode() for match, text in lines]
    return b"".join(b"%08x %b\n" % (crc32(body), body) for body in bodies)


def test_what_is_whole_is_read(subtests: pytest.Subtests) -> None:
    for newest in (False, True):
        with subtests.test(newest=newest):
            assert read(CONTENT, newest) == (TRUE, set())
            assert read(b"".join(map(older, COMMITS)), newest) == (TRUE, set())
            assert read(b"".join(map(oldest, COMMITS)), newest) == (TRUE, set())


@pytest.mark.parametrize("flip", [0x01, 0x02, 0x10, 0x80, 0xFF])
def test_one_changed_byte_costs_one_match_at_most_wherever_it_is(flip: int) -> None:
    costs = set()
    for at in range(len(CONTENT)):
        lines, damaged = read(CONTENT[:at] + bytes([CONTENT[at] ^ flip]) + CONTENT[at + 1 :])
        costs.add(len(damaged))
        assert all(lines[match] == TRUE[match] for match in MATCHES if match not in damaged), at
    assert costs == {0, 1}


@pytest.mark.parametrize("byte", [b"\n", b" ", b"0", b"{", b"a"])
def test_a_byte_that_means_something_elsewhere_costs_one_match_at_most(byte: bytes) -> None:
    for at in range(len(CONTENT)):
        lines, damaged = read(CONTENT[:at] + byte + CONTENT[at + 1 :])
        assert len(damaged) <= 1
        assert all(lines[match] == TRUE[match] for match in MATCHES if match not in damaged), at


def test_two_changed_lines_of_a_commit_cost_their_two_matches() -> None:
    commit = next(lines for lines in COMMITS if len({match for match, _ in lines}) > 2)
    content = CONTENT
    for _, text in commit[:2]:
        content = content.replace(text.encode(), text.replace("acted", "bcted").encode())
    lines, damaged = read(content)
    assert damaged == {match for match, _ in commit[:2]}
    assert all(lines[match] == TRUE[match] for match in MATCHES if match not in damaged)


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
    sums = [len(BLOCKS[commit]) - len(older(COMMITS[commit])) for commit in range(len(BLOCKS))]
    for cut in range(len(CONTENT)):
        whole = sum(cut >= end - size for end, size in zip(ends[1:], sums, strict=True))
        lines, damaged = read(CONTENT[:cut])
        assert damaged == set()
        assert lines == {
            match: [text for commit in COMMITS[:whole] for each, text in commit if each == match] for match in MATCHES
        }


@pytest.mark.parametrize("written", [older, oldest])
def test_damage_in_what_an_older_server_wrote_costs_all_that_had_begun_but_nothing_after(
    written: Callable[[Sequence[tuple[int, str]]], bytes],
) -> None:
    old = b"".join(map(written, COMMITS))
    at = old.index(b"acted")
    content = old[:at] + b"b" + old[at + 1 :] + encode_block(['99 {"in":"begun"}'], [99])
    found = list(read_blocks(content, newest=True))
    assert Damage(None) in found
    assert found[-1] == (99, '{"in":"begun"}')


def test_a_server_from_before_the_sums_reads_the_same() -> None:
    """Its rules: a block is its size and its sum; a line that is of no running match is ignored."""
    content, at = CONTENT, 0
    lines: dict[int, list[str]] = {match: [] for match in (0, *MATCHES)}
    while at < len(content):
        end = content.index(b"\n", at) + 1
        crc, _, size = content[at:end].partition(b" ")
        body = content[end : end + int(size)]
        assert b"%08x" % crc32(body) == crc
        for line in body.decode().split("\n"):
            match, _, text = line.partition(" ")
            lines[int(match)].append(text)
        at = end + int(size) + 1
    assert {match: lines[match] for match in MATCHES} == TRUE
