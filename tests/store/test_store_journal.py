"""The journal of running matches on real files: committed rows are found again, whatever happened to the rest."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Thread
from zlib import crc32

import pytest

from arena.match.inputs import Acted, Begun, Input, Instant, Sent
from arena.match.policy import Policy
from arena.replay.header import Header, SeatedBot
from arena.replay.lines import header_line, input_line
from arena.replay.read import read_unfinished
from arena.store.base import leaves as log
from arena.store.base.errors import DiskFull, StoreUnusable
from arena.store.base.rows import Interruption, MatchState
from arena.store.journal.journal import (
    FULL,
    Journal,
    journal_files,
    open_journal,
    read_journal,
    read_running,
    remove_further_journal,
)
from arena.store.matches import matches
from arena.store.store import open_store
from engine.deal import commitment
from engine.nullern import NULLERN
from tests.store import jobs

SEED = sha256(b"seed").digest()


def header(match_id: int, server: str = "1.0", started: int = 1_790_000_000_123_456) -> Header:
    return Header(
        match_id=match_id,
        game=NULLERN,
        options={},
        bots=(SeatedBot("ann", house=False), SeatedBot("bob", house=False)),
        seed=SEED,
        commitment=commitment(SEED),
        nonces=(bytes(16), bytes(16)),
        stand_in="house-random 1",
        policy=Policy(),
        started=started,
        server=server,
    )


BEGUN = Begun(Instant(0))


def sent(at: int) -> Input:
    return Sent(Instant(at), 0, 1, 0)


def text(event: Input) -> str:
    return input_line(event, NULLERN)


def begin(journal: Journal, *numbers: int) -> None:
    for number in numbers:
        journal.begin(header(number))
        journal.add(header(number), BEGUN)
    journal.commit()


def found(data: Path, *playing: int) -> Mapping[int, Sequence[str]]:
    journal, left = open_journal(data, playing)
    journal.close()
    return left.lines


def files(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "journal").iterdir())


def newest(data: Path) -> Path:
    return data / "journal" / files(data)[-1]


def opened(data: Path, *playing: int, full: int = FULL) -> Journal:
    return open_journal(data, playing, full=full)[0]


def test_what_was_committed_is_found_by_match(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    begin(journal, 1, 2)
    journal.add(header(2), sent(5))
    journal.add(header(1), Acted(Instant(7), 1, 2, 3))
    journal.commit()
    journal.add(header(1), sent(9))  # never committed, because the process dies here
    left = open_journal(tmp_path, [2, 1, 99])[1].lines
    assert list(left) == [1, 2], "a match that began elsewhere is not known here"
    assert left[1] == [header_line(header(1)), text(BEGUN), text(Acted(Instant(7), 1, 2, 3))]
    assert left[2] == [header_line(header(2)), text(BEGUN), text(sent(5))]
    assert read_unfinished(left[1], "match 1") == (header(1), (BEGUN, Acted(Instant(7), 1, 2, 3)))
    os.close(journal._file)


def test_closing_commits_what_was_added(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    begin(journal, 1)
    journal.add(header(1), sent(9))
    journal.close()
    assert found(tmp_path, 1)[1][-1] == text(sent(9))


def test_a_commit_of_nothing_writes_nothing(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.commit()
    assert newest(tmp_path).stat().st_size == 0
    journal.close()


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    begin(journal, 1)
    journal.close()
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o700
    assert newest(tmp_path).stat().st_mode & 0o777 == 0o600, "seeds of running matches are in it"


@pytest.mark.parametrize("torn", range(1, 129, 7))
def test_a_last_commit_cut_off_anywhere_counts_for_nothing(tmp_path: Path, torn: int) -> None:
    """No message that depends on any of these rows was sent."""
    journal = opened(tmp_path)
    begin(journal, 1)
    kept = newest(tmp_path).stat().st_size
    journal.add(header(1), sent(123_456))
    journal.add(header(1), sent(123_457))
    journal.close()
    path = newest(tmp_path)
    content = path.read_bytes()
    assert len(content) - kept > 128
    path.write_bytes(content[:-torn])
    assert found(tmp_path, 1)[1] == [header_line(header(1)), text(BEGUN)]


def test_a_journal_of_an_older_server_with_a_sum_for_each_line_is_taken_up_and_gone_on_with(tmp_path: Path) -> None:
    opened(tmp_path).close()
    lines = [header_line(header(1), version=2), text(BEGUN), text(sent(1)), text(sent(2))]
    bodies = [f"1 {line}".encode() for line in lines]
    newest(tmp_path).write_bytes(b"".join(b"%08x %b\n" % (crc32(body), body) for body in bodies))
    journal, content = open_journal(tmp_path, [1])
    left = content.lines
    assert left[1] == lines
    then = replace(header(1), rating_rule=1)
    assert read_unfinished(left[1], "match 1") == (then, (BEGUN, sent(1), sent(2)))
    journal.add(header(1), sent(3))
    journal.close()
    assert found(tmp_path, 1)[1] == [*lines, text(sent(3))]


@pytest.mark.parametrize("torn", [1, 2, 30, 50])
def test_a_journal_of_an_older_server_ends_at_a_damaged_line(tmp_path: Path, torn: int) -> None:
    opened(tmp_path).close()
    bodies = [f"1 {line}".encode() for line in (header_line(header(1)), text(BEGUN), text(sent(1)))]
    content = b"".join(b"%08x %b\n" % (crc32(body), body) for body in bodies)
    newest(tmp_path).write_bytes(content[:-torn])
    assert found(tmp_path, 1)[1] == [header_line(header(1)), text(BEGUN)]


@pytest.mark.parametrize("damage", [b"0", b"x", b" ", b"\n", b"\xff"])
def test_a_changed_byte_costs_no_match(tmp_path: Path, damage: bytes) -> None:
    journal = opened(tmp_path)
    begin(journal, 1, 2)
    for at in range(9):
        journal.add(header(2), sent(at))
        journal.add(header(1), sent(at))
        journal.commit()
    begin(journal, 3)
    journal.close()
    path = newest(tmp_path)
    content = path.read_bytes()
    at = content.index(text(sent(4)).encode(), content.index(text(sent(4)).encode()) + 1) + 10
    path.write_bytes(content[:at] + damage + content[at + 1 :])
    journal, left = open_journal(tmp_path, [1, 2, 3])
    journal.close()
    assert left.damaged == set()
    played = [text(BEGUN), *(text(sent(at)) for at in range(9))]
    assert left.lines == {
        1: [header_line(header(1)), *played],
        2: [header_line(header(2)), *played],
        3: [header_line(header(3)), text(BEGUN)],
    }
    assert found(tmp_path, 1, 2, 3) == left.lines, "and the next server finds them again"


def test_a_full_disk_is_named_and_the_next_commit_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(tmp_path)
    begin(journal, 1)
    write = os.write
    for room in (0, 1, 17):

        def no_room(file: int, content: bytes, room: int = room) -> int:
            if room == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(file, content[:room])

        monkeypatch.setattr(os, "write", no_room)
        journal.add(header(1), sent(room))
        with pytest.raises(DiskFull, match=r"no room left on the disk of .*00000001\.log"):
            journal.commit()
    monkeypatch.undo()
    journal.add(header(1), sent(99))
    journal.commit()
    journal.close()
    assert found(tmp_path, 1)[1] == [header_line(header(1)), text(BEGUN), *(text(sent(at)) for at in (0, 1, 17, 99))]


def test_another_failure_to_write_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = opened(tmp_path)

    def broken(file: int, content: bytes) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", broken)
    with pytest.raises(StoreUnusable, match="Input/output error"):
        journal.begin(header(1))
    journal.add(header(1), BEGUN)
    with pytest.raises(StoreUnusable, match="Input/output error"):
        journal.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(journal._file)


def test_a_match_that_cannot_begin_leaves_nothing_and_keeps_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(tmp_path, full=2000)
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda file, content, write=os.write: write(file, content[:9]))
        with pytest.raises(DiskFull):
            journal.begin(header(1))
    begin(journal, 2)
    while "00000002.log" not in files(tmp_path):
        journal.add(header(2), sent(1))
        journal.commit()
    assert '"match":1,' not in (tmp_path / "journal" / "00000001.log").read_text()
    journal.forget(2)
    begin(journal, 3)
    while "00000003.log" not in files(tmp_path):
        journal.add(header(3), sent(1))
        journal.commit()
    assert files(tmp_path) == ["00000002.log", "00000003.log"], "nothing that runs began in the first"
    journal.close()


def test_a_full_file_gives_way_to_a_new_one_and_goes_when_its_matches_are_over(tmp_path: Path) -> None:
    journal = opened(tmp_path, full=2000)
    begin(journal, 1)
    while len(files(tmp_path)) < 2:
        journal.add(header(1), sent(1))
        journal.commit()
    begin(journal, 2)
    journal.add(header(1), sent(2))
    journal.commit()
    assert files(tmp_path) == ["00000001.log", "00000002.log"], "match 1 still runs"
    journal.forget(1)
    while "00000003.log" not in files(tmp_path):
        journal.add(header(2), sent(3))
        journal.commit()
    assert files(tmp_path) == ["00000002.log", "00000003.log"]
    journal.forget(2)
    begin(journal, 3)
    while "00000004.log" not in files(tmp_path):
        journal.add(header(3), sent(4))
        journal.commit()
    assert files(tmp_path) == ["00000003.log", "00000004.log"]
    while "00000005.log" not in files(tmp_path):
        journal.add(header(3), sent(5))
        if sum(map(len, journal._unwritten)) > 2000:
            journal.forget(3)
            journal.commit()
    assert files(tmp_path) == ["00000005.log"], "nothing runs: only the new file is kept"
    journal.close()


def test_a_match_whose_lines_are_in_several_files_is_put_together(tmp_path: Path) -> None:
    journal = opened(tmp_path, full=1500)
    begin(journal, 1)
    for at in range(100):
        journal.add(header(1), sent(at))
        journal.commit()
    journal.close()
    assert len(files(tmp_path)) > 1, "copying on leaves few of them"
    assert found(tmp_path, 1)[1] == [header_line(header(1)), text(BEGUN), *(text(sent(at)) for at in range(100))]


def test_a_match_is_not_put_together_across_a_damaged_line(tmp_path: Path) -> None:
    journal = opened(tmp_path, full=1500)
    begin(journal, 1)
    for at in range(20):
        journal.add(header(1), sent(at))
        journal.commit()
    begin(journal, 2)
    journal.close()
    first = tmp_path / "journal" / files(tmp_path)[0]
    content = first.read_bytes()
    first.write_bytes(content.replace(text(sent(2)).encode(), text(sent(33)).encode()))
    assert read_journal(tmp_path, 1) == ()
    assert found(tmp_path, 1, 2) == {2: [header_line(header(2)), text(BEGUN)]}, "it began after the damage"


@pytest.mark.parametrize("changed", ["a part of its header", "its header"])
def test_a_match_that_began_within_the_damage_is_damaged_too(tmp_path: Path, changed: str) -> None:
    journal = opened(tmp_path)
    begin(journal, 1, 2, 3)
    journal.close()
    path = newest(tmp_path)
    content = path.read_bytes()
    _, start, end, _ = (block.start() for block in re.finditer(rb"(?m)^[0-9a-f]{8} [0-9]+$", content))
    start, end = (start + 100, start + 120) if changed == "a part of its header" else (start, end)
    path.write_bytes(content[:start] + b"?" * (end - start) + content[end:])
    journal, left = open_journal(tmp_path, [1, 2, 3])
    journal.close()
    assert left.damaged == {1, 2}
    assert left.lines == {3: [header_line(header(3)), text(BEGUN)]}


def test_the_end_of_a_file_that_is_not_the_newest_is_damage(tmp_path: Path) -> None:
    journal = opened(tmp_path, full=1500)
    begin(journal, 1)
    while len(files(tmp_path)) < 2:
        journal.add(header(1), sent(1))
        journal.commit()
    begin(journal, 2)
    journal.close()
    first = tmp_path / "journal" / files(tmp_path)[0]
    first.write_bytes(first.read_bytes()[:-200])
    assert list(found(tmp_path, 1, 2)) == [2]


def test_a_new_file_that_cannot_be_made_leaves_the_old_one_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(tmp_path, full=0)
    make = os.open

    def refused(path: Path, *how: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refused)
    begin(journal, 1)
    journal.add(header(1), sent(1))
    journal.commit()
    assert files(tmp_path) == ["00000001.log"]
    monkeypatch.setattr(os, "open", make)
    journal.add(header(1), sent(2))
    journal.commit()
    assert files(tmp_path) == ["00000001.log", "00000002.log"]
    journal.close()
    assert found(tmp_path, 1)[1][-2:] == [text(sent(1)), text(sent(2))]


def play_beside(journal: Journal, data: Path, long: int, short: range, turns: int) -> tuple[int, int]:
    """Play short matches one after another beside a long match, which gets an input during each. Return the largest
    size of the files in bytes, and their largest number.
    """
    most, count = 0, 0
    for number in short:
        begin(journal, number)
        journal.add(header(long), sent(number))
        for turn in range(turns):
            for at in range(20):
                journal.add(header(number), sent(turn * 20 + at))
            journal.commit()
        journal.forget(number)
        if len(short) < 10_000 and journal._copy is not None and journal._copy._syncing is not None:
            journal._copy._syncing.join()  # these files are full before one of them is on the disk
        if number % 100 == 0 or len(short) < 10_000:
            sizes = sizes_of(data)
            most, count = max(most, sum(sizes)), max(count, len(sizes))
    return most, count


def sizes_of(data: Path) -> list[int]:
    sizes = []
    for path in (data / "journal").iterdir():
        with suppress(FileNotFoundError):  # a thread replaces the originals
            sizes.append(path.stat().st_size)
    return sizes


def copied(journal: Journal) -> None:
    """Wait until the thread has finished a copy."""
    while journal._copy is not None:
        journal._copy_on(journal._copy, 1 << 20)


@pytest.mark.parametrize(
    ("short", "turns", "full"),
    [(400, 2, 1 << 15), pytest.param(100_000, 10, FULL, marks=pytest.mark.long)],
    ids=["400", "100000"],
)
def test_one_long_match_beside_many_short_ones_holds_back_few_bytes(
    tmp_path: Path, short: int, turns: int, full: int
) -> None:
    journal = opened(tmp_path, full=full)
    begin(journal, 1)
    most, count = play_beside(journal, tmp_path, 1, range(2, short + 2), turns)
    assert most <= 4 * full
    assert count <= 5
    copied(journal)
    assert journal._number > 30, "all lines together take many files"
    journal.close()
    assert list(read_journal(tmp_path, 1)) == [
        header_line(header(1)),
        text(BEGUN),
        *(text(sent(number)) for number in range(2, short + 2)),
    ]
    assert "copy" not in files(tmp_path)


def test_lines_of_long_matches_that_fill_the_files_are_copied_seldom(tmp_path: Path) -> None:
    full = 1 << 14
    journal = opened(tmp_path, full=full)
    long = range(1, 61)
    begin(journal, *long)
    written = 0
    for at in range(400):
        before = journal._copied
        for number in long:
            journal.add(header(number), sent(at))
        journal.commit()
        copied(journal)
        if journal._copied != before:
            written += journal._copied
    lines = read_running(tmp_path, long)
    assert all(
        texts == [header_line(header(number)), text(BEGUN), *map(text, map(sent, range(400)))]
        for number, texts in lines.items()
    )
    live = sum(len(text) for texts in lines.values() for text in texts)
    assert 0 < written <= 2 * live, "twice as many lines as the last time before they are copied again"
    journal.close()


@pytest.mark.parametrize("fault", ["damage", "full disk", "no thread"])
def test_files_stay_if_their_lines_cannot_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    full = 1 << 15
    journal = opened(tmp_path, full=full)
    begin(journal, 1)
    while len(files(tmp_path)) < 2:
        begin(journal, 2)
        journal.forget(2)
    first = tmp_path / "journal" / files(tmp_path)[0]
    content = first.read_bytes()
    with monkeypatch.context() as patched:
        if fault == "damage":
            first.write_bytes(content[: full // 2] + b"\xff\xff" + content[full // 2 + 2 :])
        elif fault == "full disk":
            write = os.write

            def room_for_the_newest(file: int, content: bytes) -> int:
                return write(file, content if file == journal._file else content[:9])

            patched.setattr(os, "write", room_for_the_newest)
        else:

            def none_left(thread: Thread) -> None:
                raise RuntimeError("can't start new thread")

            patched.setattr(Thread, "start", none_left)
        while journal._number < 4:
            begin(journal, 2)
            journal.forget(2)
        copied(journal)
        assert files(tmp_path) == ["00000001.log", "00000002.log", "00000003.log", "00000004.log"]
    first.write_bytes(content)
    while journal._number < 5:
        begin(journal, 2)
        journal.forget(2)
    copied(journal)
    assert files(tmp_path) == ["00000003.log", "00000004.log", "00000005.log"], "the next copy has succeeded"
    journal.close()
    assert list(read_journal(tmp_path, 1)) == [header_line(header(1)), text(BEGUN)]


def test_a_reader_can_see_that_a_copy_has_replaced_a_file(tmp_path: Path) -> None:
    """A backup needs this, because its snapshot of the database may still show a finished match as running."""
    journal = opened(tmp_path, full=1 << 15)
    begin(journal, 1, 3)
    while journal._number < 2:
        begin(journal, 2)
        journal.forget(2)
    before = journal_files(tmp_path)
    journal.forget(3)
    while journal._number < 3:
        begin(journal, 2)
        journal.forget(2)
    copied(journal)
    assert files(tmp_path) == ["00000001.log", "00000002.log", "00000003.log"]
    assert not before <= journal_files(tmp_path)
    assert read_journal(tmp_path, 3) == ()
    journal.close()


def test_opening_copies_what_still_runs_into_a_new_file_and_removes_the_rest(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    begin(journal, 1, 2)
    journal.close()
    once = found(tmp_path, 2)
    assert files(tmp_path) == ["00000002.log"]
    assert "ann" in newest(tmp_path).read_text()
    assert list(once) == [2]
    assert found(tmp_path, 1, 2) == once, "what was over at the last opening is gone"
    assert found(tmp_path) == {}
    assert newest(tmp_path).read_text() == ""


def test_a_match_that_goes_on_after_the_opening_is_written_on(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    begin(journal, 1)
    journal.close()
    journal = opened(tmp_path, 1)
    journal.add(header(1), sent(1))
    journal.close()
    assert found(tmp_path, 1)[1] == [header_line(header(1)), text(BEGUN), text(sent(1))]


def test_a_match_begun_twice_is_what_it_was_the_second_time(tmp_path: Path) -> None:
    """The match's number was not stored the first time, so the next server gave the number to another match."""
    journal = opened(tmp_path)
    begin(journal, 1)
    journal.add(header(1), sent(1))
    journal.commit()
    journal.forget(1)
    journal.begin(header(1, server="2.0"))
    journal.close()
    assert found(tmp_path, 1)[1] == [header_line(header(1, server="2.0"))]


def test_a_match_begun_again_after_its_file_was_left_behind_is_the_newer_one(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    begin(journal, 1)
    journal.close()
    old = newest(tmp_path).read_bytes()
    journal = opened(tmp_path)
    journal.begin(header(1, server="2.0"))
    journal.close()
    (tmp_path / "journal" / "00000001.log").write_bytes(old)  # as if the file could not be removed
    assert found(tmp_path, 1)[1] == [header_line(header(1, server="2.0"))]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    opened(tmp_path).close()
    stranger = tmp_path / "journal" / "notes.log"
    stranger.write_text("mine")
    opened(tmp_path).close()
    assert stranger.read_text() == "mine"


def test_a_file_that_cannot_be_removed_stops_nothing(tmp_path: Path) -> None:
    opened(tmp_path).close()
    stubborn = tmp_path / "journal" / "00000000.log"
    stubborn.write_text("")
    remove = Path.unlink

    def refused(path: Path, missing_ok: bool = False) -> None:
        if path == stubborn:
            raise PermissionError
        remove(path, missing_ok)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", refused)
        opened(tmp_path).close()
    assert files(tmp_path) == ["00000000.log", "00000002.log"]


def test_a_directory_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StoreUnusable, match=r"journal.*: (File exists|Not a directory)"):
        open_journal(tmp_path, [])


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "journal" / "00000009.log").mkdir()
    with pytest.raises(StoreUnusable, match=r"journal.*: Is a directory"):
        open_journal(tmp_path, [])


def test_no_room_for_the_copy_is_named_and_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = opened(tmp_path)
    begin(journal, 1)
    journal.close()

    def no_room(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(DiskFull):
        open_journal(tmp_path, [1])
    monkeypatch.undo()
    assert len(found(tmp_path, 1)[1]) == 2


@pytest.mark.parametrize("changed", [1, 2])
async def test_a_changed_byte_of_the_journal_costs_nothing_and_two_cost_what_ran(directory: Path, changed: int) -> None:
    numbers = range(1, 14)
    async with open_store(directory, jobs.NOW) as store:
        players = await store.write(lambda connection: jobs.add_bots(connection, "Ada", "Bob"))
        for number in numbers:
            store.journal.begin(header(number, started=jobs.NOW))
            assert await store.write(lambda connection: jobs.begin(connection, players)) == number
        for at in range(20):
            for number in numbers:
                store.journal.add(header(number), sent(at))
            store.journal.commit()
    (path,) = (directory / "journal").glob("*.log")
    content = path.read_bytes()
    at = content.index(b'\n7 {"in"') + 20
    path.write_bytes(content[:at] + bytes([byte ^ 1 for byte in content[at : at + changed]]) + content[at + changed :])
    async with open_store(directory, jobs.NOW) as store:
        lost = [*numbers] if changed > 1 else []
        assert store.lost == dict.fromkeys(lost, Interruption.JOURNAL_DAMAGED.in_words())
        assert [*store.unfinished] == [number for number in numbers if number not in lost]
        assert all(len(lines) == 21 for lines in store.unfinished.values())
        if not lost:
            return
        match = await store.read(lambda connection: matches.get_match(connection, 7))
        assert (match.state, match.reason) == (MatchState.INTERRUPTED, Interruption.JOURNAL_DAMAGED.in_words())
        assert match.interruption is Interruption.JOURNAL_DAMAGED
        head = await store.read(log.head)
        assert head is not None
        assert head.size == await store.read(log.size), "the interruptions are in the signed head"


def further(data: Path, node: int, *numbers: int) -> Journal:
    """Return the journal of another node in which matches have begun."""
    journal, _ = open_journal(data, (), node=node)
    begin(journal, *numbers)
    return journal


def test_what_other_nodes_left_is_found_at_the_next_start_and_kept_by_the_first(tmp_path: Path) -> None:
    first, _ = open_journal(tmp_path, ())
    begin(first, 1)
    second, third = further(tmp_path, 2, 2), further(tmp_path, 3, 3)
    third.add(header(3), sent(5))
    for journal in (first, second, third):
        journal.close()
    assert read_journal(tmp_path, 3)[1:] == [text(BEGUN), text(sent(5))]
    assert set(read_running(tmp_path, [1, 2, 3])) == {1, 2, 3}
    again, found = open_journal(tmp_path, [1, 2, 3])
    again.close()
    assert {number: len(lines) for number, lines in found.lines.items()} == {1: 2, 2: 2, 3: 3}
    assert [path.name for path in (tmp_path / "journal").iterdir()] == ["00000002.log"]


def test_a_match_that_was_taken_over_is_the_longer_of_two_journals(tmp_path: Path) -> None:
    second = further(tmp_path, 2, 2)
    first, _ = open_journal(tmp_path, [2], node=1)
    first.add(header(2), sent(5))
    first.commit()
    assert read_journal(tmp_path, 2)[1:] == [text(BEGUN), text(sent(5))]
    remove_further_journal(tmp_path, 2)
    remove_further_journal(tmp_path, 2)
    assert read_journal(tmp_path, 2)[1:] == [text(BEGUN), text(sent(5))]
    first.forget(2)
    first.close()
    second.close()


def test_damage_in_the_first_journal_never_brings_back_an_older_course(tmp_path: Path) -> None:
    second = further(tmp_path, 2, 2)
    first, _ = open_journal(tmp_path, [2], node=1)
    first.add(header(2), sent(5))
    first.commit()
    path = tmp_path / "journal" / "00000001.log"
    damaged = path.stat().st_size - 20
    first.add(header(2), sent(9))
    first.close()
    second.close()
    content = bytearray(path.read_bytes())
    content[damaged : damaged + 3] = b"???"
    path.write_bytes(content)
    _, found = open_journal(tmp_path, [2])
    assert 2 not in found.lines
    assert found.damaged == {2}
