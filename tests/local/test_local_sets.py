"""The file of a match. Play continues from it after any interruption, and no other match accepts the file."""

import json
from pathlib import Path

import pytest

from arena.local.errors import SetsFileRefused
from arena.local.match.design import Design
from arena.local.match.sets import PlayedSet, SeatedGame, SetsFile, Subject, seed_of
from arena.local.play.table import PlayedGame

SUBJECT = Subject("nullern", {}, 2, Design.ONE_TABLE, 7, ("a.py", "b.py"), ("1", "2"))


def a_set(number: int) -> PlayedSet:
    game = PlayedGame((number, 2), (1, 2), (9, 9), (5, 5), (1, 1), (3, 1, number), 1_790_000_000_000_000)
    return PlayedSet(number, (SeatedGame((0, 1), game), SeatedGame((1, 0), game)))


def kept(path: Path, *numbers: int) -> None:
    file = SetsFile(path, SUBJECT)
    for number in numbers:
        file.add(a_set(number))
    file.close()


def test_what_was_added_is_there_again_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "sets"
    kept(path, 2, 0)
    kept(path, 1)
    assert SetsFile(path, SUBJECT).found == {number: a_set(number) for number in (0, 1, 2)}
    assert seed_of(path) == 7


def test_a_file_cut_off_anywhere_keeps_its_whole_sets_and_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "sets"
    kept(path, 0, 1, 2)
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at])
        if at < ends[0]:
            if at:
                with pytest.raises(SetsFileRefused, match="holds no sets of a match"):
                    SetsFile(path, SUBJECT)
            continue
        there = sum(end <= at for end in ends) - 1
        file = SetsFile(path, SUBJECT)
        assert {*file.found} == {*range(there)}
        for number in range(there, 3):
            file.add(a_set(number))
        file.close()
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 8}, "seed 7 there, 8 here"),
        ({"versions": ("1", "3")}, 'versions ["1", "2"] there, ["1", "3"] here'),
        ({"design": Design.INDEPENDENT}, 'design "one-table" there, "independent" here'),
    ],
)
def test_another_match_is_refused_and_nothing_is_changed(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "sets"
    kept(path, 0)
    before = path.read_bytes()
    other = Subject(**{name: getattr(SUBJECT, name) for name in Subject.__slots__} | change)
    with pytest.raises(SetsFileRefused) as refused:
        SetsFile(path, other)
    assert f"{path} holds sets of another match ({said}): choose another file" in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello\n", b"{}\n", b"[1]\n", b"\x00" * 100 + b"\n"])
def test_a_file_of_something_else_is_refused_and_nothing_is_changed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sets"
    path.write_bytes(content)
    with pytest.raises(SetsFileRefused, match="holds no sets of a match"):
        SetsFile(path, SUBJECT)
    assert path.read_bytes() == content
    assert seed_of(path) is None


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sets"
    kept(path, 0, 1)
    lines = path.read_text().splitlines()
    lines[1] = json.dumps({"set": 0})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(SetsFileRefused, match="is damaged: line 2 is no set"):
        SetsFile(path, SUBJECT)


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    file = SetsFile(None, SUBJECT)
    file.add(a_set(0))
    file.close()
    assert {*file.found} == {0}
    assert not [*tmp_path.iterdir()]
