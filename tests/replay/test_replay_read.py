"""Invalid replay files. Each fault has its own message with the file's name and the line."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.match.inputs import Restored
from arena.replay import hash_chain
from arena.replay.hash_chain import Chain, pack
from arena.replay.header import MatchKind
from arena.replay.lines import header_line
from arena.replay.read import read, read_unfinished
from arena.replay.record import encode
from arena.replay.replay import ReplayError
from arena.replay.verify import verify
from tests.replay.recorded import changes, forged, lines_of, objects_of, play, rate, rated, restarted

WHOLE = rated()
LINES = lines_of(WHOLE)
OBJECTS = objects_of(WHOLE)


def gzipped(text: bytes) -> bytes:
    return gzip.compress(text, mtime=0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is not a gzip file"),
        (b"hello", "it is not a gzip file"),
        (WHOLE[:-1], "its gzip data ends too early: the file is cut off"),
        (WHOLE[: len(WHOLE) // 2], "its gzip data ends too early: the file is cut off"),
        (WHOLE[:2], "its gzip data ends too early: the file is cut off"),
        (WHOLE + b"more", "4 bytes follow the end of its gzip data"),
        (WHOLE[:100] + b"\0\0\0\0" + WHOLE[104:], "its gzip data is damaged"),
        (gzipped(b""), "it is empty"),
        (gzipped(b"\xff\n"), "line 1: the byte 0xff there is not UTF-8"),
        (gzipped(LINES[0].encode() + b"\n\n\x80"), "line 3: the byte 0x80 there is not UTF-8"),
        (gzipped(LINES[0].encode()), "line 1: the line is cut off: it does not end in a newline"),
        (gzipped(b"what?\n"), "line 1: it is not JSON"),
        (gzipped(b"[" * 100_000 + b"\n"), "line 1: it is not JSON"),
        (gzipped(b'{"arena_replay":' + b"9" * 5000 + b"}\n"), "line 1: it is not JSON"),
        (gzipped(b'{"arena_replay":NaN}\n'), "line 1: it is not JSON (NaN is not a JSON number)"),
        (gzipped(b"[1]\n"), "line 1: it is not a JSON object"),
        (gzipped(b'{"hello":1}\n'), "line 1: it is no replay of an arena"),
        (gzipped(b'{"arena_replay":"1"}\n'), "line 1: it is no replay of an arena"),
        (
            gzipped(b'{"arena_replay":5}\n'),
            "line 1: it was made by a newer arena: its format is 5, and this arena reads 2 to 4",
        ),
        (
            gzipped(b'{"arena_replay":1}\n'),
            "line 1: it was made by another arena: its format is 1, and this arena reads 2 to 4",
        ),
        (gzipped(b'{"arena_replay":4}\n'), 'line 1: it does not end in the field "chain"'),
        (forged(OBJECTS[:1]), "the file ends before the result"),
        (forged(OBJECTS[:-2]), "the file ends before the result"),
        (forged(OBJECTS[:-1]), "the file ends before the ratings that its first line promises"),
        (forged([*OBJECTS, OBJECTS[-1]]), f"line {len(OBJECTS) + 1}: the replay is complete before this line"),
        (forged([OBJECTS[0], {"in": "danced"}]), "line 2: there is no input 'danced'; there are begun, sent, acted"),
        (forged([OBJECTS[0], {"in": []}]), "line 2: there is no input []"),
        (forged([OBJECTS[0], {"out": "danced"}]), "line 2: there is no effect 'danced'; there are refused, forced"),
        (forged([OBJECTS[0], {"out": {}}]), "line 2: there is no effect {}"),
        (forged([OBJECTS[0], {}]), 'line 2: the field "result" is missing'),
    ],
)
def test_replay_file_that_is_none_is_told_what_is_wrong(content: bytes, words: str) -> None:
    with pytest.raises(ReplayError) as caught:
        read(content, "match-101.jsonl.gz")
    assert str(caught.value).startswith("match-101.jsonl.gz")
    assert words in str(caught.value)


def changed(line: int, change: Callable[[Any], object]) -> bytes:
    objects = objects_of(WHOLE)
    change(objects[line])
    return forged(objects)


def first(kind: str, name: str) -> int:
    return next(number for number, line in enumerate(OBJECTS) if line.get(kind) == name)


@pytest.mark.parametrize(
    ("line", "change", "words"),
    [
        (0, lambda line: line.pop("seed"), 'the field "seed" is missing'),
        (0, lambda line: line.update(seed="AB" * 32), "where 64 lower-case hex digits belongs"),
        (0, lambda line: line.update(seed="ab" * 31), "where 64 lower-case hex digits belongs"),
        (0, lambda line: line.update(nonces=["ab"] * 4), "where a list of texts of 32 lower-case hex digits belongs"),
        (0, lambda line: line.update(nonces=[]), "4 bots and 0 nonces for 4 seats"),
        (0, lambda line: line.update(seats=3), "4 bots and 4 nonces for 3 seats"),
        (
            0,
            lambda line: line.update(seats=True),
            'the field "seats" holds True where a whole number, 0 or more belongs',
        ),
        (0, lambda line: line.update(ladder="Slow"), "holds 'Slow' where the id of a ladder, such as slow or slow/2,"),
        (0, lambda line: line.update(ladder="slow/1"), "holds 'slow/1' where the id of a ladder"),
        (0, lambda line: line.update(ladder=""), "holds '' where the id of a ladder"),
        (0, lambda line: line.update(ladder=line["game"]), "the default ladder of the game, which has no field"),
        (0, lambda line: line.update(rated=False, kind="event"), 'the field "event" is missing'),
        (
            0,
            lambda line: line.update(rated=False, kind="event", event="friday"),
            "holds 'friday' where an event and the",
        ),
        (0, lambda line: line.update(event="friday/0"), 'the field "event" does not belong there'),
        (0, lambda line: line.update(kind="event", event="friday/0"), "a match of the kind event moves no ratings"),
        (0, lambda line: line.update(extra=1), 'the field "extra" does not belong there'),
        (0, lambda line: line.update(game="chess"), "this arena does not know the game 'chess'; it knows"),
        (0, lambda line: line.update(started="2026-01-01T00:00:00Z"), "where an instant in ISO 8601 and UTC belongs"),
        (0, lambda line: line.update(started="yesterday"), "where an instant in ISO 8601 and UTC belongs"),
        (0, lambda line: line.update(started="2026-01-01T00:00:00"), "where an instant in ISO 8601 and UTC belongs"),
        (0, lambda line: line["policy"].pop("bank"), 'the field "bank" is missing'),
        (0, lambda line: line["bots"][1].update(house=1), 'the field "house" holds 1 where true or false belongs'),
        (0, lambda line: line.update(options={"novice": "no"}), "an object of whole numbers and true or false"),
        (0, lambda line: line.update(options={"colour": True}), "has no option 'colour'"),
        (0, lambda line: line.update(options={"target": -1}), "option target takes"),
        (1, lambda line: line.update(at=-1), 'the field "at" holds -1 where microseconds, 0 to 2^62 − 1 belongs'),
        (
            0,
            lambda line: line.update(started="0001-01-01T00:00:00.000000+14:00"),
            "where an instant in ISO 8601 and UTC",
        ),
        (0, lambda line: line.update(server={"name": "x"}), 'the field "server" holds an object where text belongs'),
        (0, lambda line: line.update(server="x", game="y" * 50, seats="z" * 50), f"'{'z' * 38}…"),
        (1, lambda line: line.update(at=1 << 62), "where microseconds, 0 to 2^62 − 1 belongs"),
        (len(OBJECTS) - 1, lambda line: line["ratings"][0].update(after=10**400), "where a number below 1e9 belongs"),
        (1, lambda line: line.update(at=1.0), 'the field "at" holds 1.0 where'),
        (first("in", "sent"), lambda line: line.pop("seat"), 'the field "seat" is missing'),
        (
            first("in", "acted"),
            lambda line: line.update(name=7),
            'the field "name" holds 7 where a name or null belongs',
        ),
        (
            first("out", "forced"),
            lambda line: line.update(why=[]),
            "holds a list where one of time, illegality, suspension",
        ),
        (
            first("out", "refused"),
            lambda line: line.update(legal=["x"] * 99),
            "holds a list where a list of whole numbers",
        ),
        (first("out", "round"), lambda line: line.update(taken="x"), "a whole number, a list of them or null"),
        (len(OBJECTS) - 2, lambda line: line.update(result="won"), "where one of finished, interrupted belongs"),
        (len(OBJECTS) - 2, lambda line: line["places"].pop(), '3 values in "places" for 4 seats'),
        (len(OBJECTS) - 2, lambda line: line.update(troubled=[]), '0 values in "troubled" for 4 seats'),
        (len(OBJECTS) - 2, lambda line: line["counts"].pop(), '3 values in "counts" for 4 seats'),
        (len(OBJECTS) - 2, lambda line: line.update(counts=[1]), "where a list of true and false belongs"),
        (len(OBJECTS) - 2, lambda line: line["forced"].pop(), '3 values in "forced" for 4 seats'),
        (len(OBJECTS) - 1, lambda line: line["ratings"].pop(), "3 ratings for 4 seats"),
        (len(OBJECTS) - 1, lambda line: line["ratings"][0].update(after="1"), "the field \"after\" holds '1'"),
    ],
)
def test_replay_line_of_the_wrong_shape_is_named(line: int, change: Callable[[Any], object], words: str) -> None:
    content = changed(line, change)
    with pytest.raises(ReplayError) as caught:
        read(content)
    assert caught.value.line == line + 1
    assert words in caught.value.problem


def test_replay_with_an_endless_number_is_told_so() -> None:
    *texts, ratings = [f"{line[:-76]}}}" for line in LINES]
    before, _, after = ratings.partition('"after":')
    endless = f'{before}"after":1e999{after[after.index(",") :]}'
    with pytest.raises(ReplayError, match='the field "after" holds inf where a number below 1e9 belongs'):
        read(pack(map(Chain().line, [*texts, endless])))


def test_replay_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzipped(bytes(hash_chain.LIMIT + 1))
    assert len(bomb) < 1 << 20
    with pytest.raises(ReplayError, match="bomb: it unpacks to more than 64 MiB, which no match needs"):
        read(bomb, "bomb")


def test_replay_is_read_from_a_file_and_errors_bear_its_name(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl.gz"
    with pytest.raises(ReplayError, match=r"match\.jsonl\.gz: it cannot be read: No such file"):
        read(file)
    file.write_bytes(WHOLE)
    assert read(file).lines == tuple(LINES)
    assert read(file).source == str(file)
    file.write_bytes(WHOLE[:-9])
    with pytest.raises(ReplayError, match=r"match\.jsonl\.gz: its gzip data ends too early"):
        read(file)
    with pytest.raises(ReplayError, match="it cannot be read"):
        read(tmp_path)


def test_replay_without_ratings_needs_none() -> None:
    header, entries = play()
    assert read(encode(header, entries)).ratings is None


@pytest.mark.parametrize("seats", [[], [1], [0, 0], [4], [1, 0]])
def test_replay_names_seats_as_removed_that_are_no_house_bots(seats: list[int]) -> None:
    objects: list[Any] = objects_of(restarted("house-planner 2", (0,)))
    next(line for line in objects if line.get("in") == "restored")["removed"] = seats
    with pytest.raises(ReplayError, match=r'"removed" holds .* where seats of house bots belong'):
        read(forged(objects))


def test_replay_in_which_a_stand_in_played_for_a_removed_house_bot_is_verified() -> None:
    replay = read(restarted("house-planner 2", (0,)))
    assert verify(replay).verified
    assert [event.removed for event in replay.inputs if isinstance(event, Restored)] == [(0,), (0,)]


@pytest.mark.parametrize("ladder", ["", "slow-room", "class_7/2", "sixth_sense/12"])
def test_the_header_names_the_ladder_unless_it_is_the_default_one(ladder: str) -> None:
    header, entries = play()
    content = encode(replace(header, ladder=ladder), entries, changes(entries))
    found = read(content).header
    assert (found.ladder, found.ladder_id) == (ladder, ladder or "sixth_sense")
    assert verify(read(content), rate).verified
    assert (content == WHOLE) is (ladder == "")
    assert read_unfinished([header_line(replace(header, ladder=ladder))], "match 1")[0].ladder == ladder


def test_the_header_of_an_events_match_names_its_table() -> None:
    header, entries = play()
    header = replace(header, kind=MatchKind.EVENT, event="friday/12")
    found = read(encode(header, entries))
    assert (found.header.kind, found.header.event) == (MatchKind.EVENT, "friday/12")
    assert verify(found).verified
    assert read_unfinished([header_line(header)], "match 1")[0].event == "friday/12"


def test_an_unfinished_match_without_a_line_is_refused() -> None:
    with pytest.raises(ReplayError, match=r"^the journal of match 3: it is empty$"):
        read_unfinished((), "the journal of match 3")
