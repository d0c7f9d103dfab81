"""Recording: the data stored while a match runs. The same match leads to the same file."""

import gc
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.match.effects import Ask, Force, Show, Suspend
from arena.match.inputs import Begun, Instant, TimeUp
from arena.replay.hash_chain import unpack, with_chain, without_chain
from arena.replay.header import MatchKind
from arena.replay.lines import input_line
from arena.replay.read import read
from arena.replay.record import Recorder, encode, record
from arena.replay.thinking import Stopwatch
from arena.replay.view_digests import ViewDigests
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import changes, lines_of, objects_of, play, rated, restarted

FORMAT = Path(__file__).parents[2] / "docs" / "replay-format.md"


def test_replay_of_the_same_match_is_the_same_bytes() -> None:
    assert rated() == rated()


def test_replay_reads_back_as_what_was_recorded() -> None:
    header, entries = play()
    moved = changes(entries)
    replay = read(encode(header, entries, moved))
    assert replay.header == header
    assert list(replay.inputs) == [event for event, _ in entries]
    assert replay.ratings is not None
    assert [(each.before.value, each.after.deviation) for each in replay.ratings] == [
        (each.before.value, each.after.deviation) for each in moved
    ]


def test_replay_is_stored_without_its_chain_which_follows_from_it() -> None:
    header, entries = play()
    file = encode(header, entries)
    stored = record(header, entries).replay()
    assert b'"chain"' not in unpack(stored)
    assert 2 * len(stored) < len(file)
    assert with_chain(stored) == file
    assert with_chain(file) == file, "servers used to store it with its chain"


def test_replay_recorder_keeps_no_input_and_what_was_shown_until_the_round_is_over() -> None:
    header, entries = play(interrupted_after=200)
    recorder = Recorder(header)
    shown = 0
    for event, effects in entries[:-1]:
        recorder.add(event, effects, input_line(event, header.game))
        for effect in effects:
            shown = 0 if isinstance(effect, Show) else shown + isinstance(effect, Ask)
    kept: list[object] = [recorder]
    for each in kept:  # add the file that it refers to
        if isinstance(each, Recorder | ViewDigests | Stopwatch | list | dict):
            kept += gc.get_referents(each)
    assert any(isinstance(each, str) for each in kept)
    tuples = [each for each in kept if isinstance(each, tuple)]
    assert 0 < len(tuples) <= shown
    assert {type(each) for each in tuples} == {tuple}, "inputs, effects and views have types of their own"


def test_replay_recorder_that_fails_at_an_effect_has_no_line_of_its_input() -> None:
    header, _ = play()
    recorder = Recorder(header)
    recorder.add(Begun(Instant(0)), [Suspend(1)], "first")
    before = recorder.lines()
    with pytest.raises(AttributeError):
        recorder.add(TimeUp(Instant(9)), [Suspend(2), Show(None)], "second")  # type: ignore[arg-type]  # is the fault
    assert recorder.lines() == before
    assert before[1:] == ["first", '{"out":"suspended","seat":1}']


def test_replay_names_every_choice() -> None:
    choices = [line for chance in (1, 2, 3) for line in objects_of(rated(chance=chance)) if "action" in line]
    names = {line["name"] for line in choices}
    assert {"split", "peek"} <= names
    assert all(line["name"] for line in choices if line.get("out") == "forced")
    assert [line["name"] for line in choices if not 0 <= int(str(line["action"])) < len(SIXTH_SENSE.actions)].count(
        None
    ) > 0


def test_replay_of_a_match_that_is_not_over_is_refused() -> None:
    header, entries = play()
    with pytest.raises(ValueError, match="match 101 is not over"):
        encode(header, entries[:9])


def test_replay_of_an_interrupted_match_says_why_and_has_no_ratings() -> None:
    header, entries = play(interrupted_after=40)
    file = encode(header, entries)
    seats = [effect.seat for _, effects in entries for effect in effects if isinstance(effect, Force)]
    forced = [seats.count(seat) for seat in range(4)]
    assert any(forced)
    assert objects_of(file)[-1] == {
        "result": "interrupted",
        "bots": ["bot-0", "bot-1", "bot-2", "bot-3"],
        "scores": [],
        "places": [],
        "forced": forced,
        "troubled": [False, False, False, False],
        "counts": [],
        "interrupted": "the server stops – good night",
        "spoilt": [],
    }
    assert read(file).ratings is None


def test_replay_header_hides_what_is_secret_while_the_match_runs() -> None:
    header, _ = play()
    assert header.seed.hex() not in repr(header)
    assert repr(header.seed) not in repr(header)
    assert repr(header.nonces) not in repr(header)


def test_replay_lines_are_json_in_the_documented_order_of_fields() -> None:
    documented = FORMAT.read_text()
    header_fields = re.findall(
        r"^\| `(\w+)` \| ", documented.partition("## The header")[2].partition("## Inputs")[0], re.MULTILINE
    )
    rows = re.findall(
        r"^\| `(\w+)` \| ((?:`\w+` ?)*)(?:and the game's own )?\|", documented.partition("## Inputs")[2], re.MULTILINE
    )
    fields = {name: re.findall(r"\w+", order) for name, order in rows}
    seen = set()
    files = [*(rated(chance=chance) for chance in (1, 2, 3)), rated(chance=1, stays_away=True), restarted()]
    for line in [line for file in files for line in lines_of(file)]:
        content = json.loads(line)
        assert json.dumps(content, ensure_ascii=False, separators=(",", ":")) == line
        assert json.loads(without_chain(line) or "") == {key: content[key] for key in content if key != "chain"}
        kind = content.get("in") or content.get("out")
        if kind:
            seen.add(kind)
            assert list(content)[1 : 1 + len(fields[kind])] == fields[kind]
    assert seen == fields.keys() - {"interrupted"}
    default = [name for name in header_fields if name not in {"ladder", "event"}]
    assert [*json.loads(lines_of(rated())[0])] == [*default, "chain"]
    header, entries = play()
    whole = replace(header, ladder="slow", kind=MatchKind.EVENT, event="friday/0")
    assert [*json.loads(lines_of(encode(whole, entries))[0])] == [*header_fields, "chain"]


@pytest.mark.process
def test_replay_chain_is_checked_by_the_documented_lines(tmp_path: Path) -> None:
    code = FORMAT.read_text().partition("```python\n")[2].partition("```")[0]
    script, file = tmp_path / "check.py", tmp_path / "match.jsonl.gz"
    script.write_text(code)
    file.write_bytes(rated())
    ran = subprocess.run([sys.executable, script, file], capture_output=True, text=True, check=True)
    last = lines_of(rated())
    assert ran.stdout == f"{len(last)} lines, chain {last[-1][-66:-2]}\n"
