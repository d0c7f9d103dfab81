"""`arena match --event` and `arena event verify`, as an organiser uses them."""

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena.local.errors import EventFileDiffersError
from arena.local.match.event import verified
from tests.cli.cli_rig import ARENA, PATIENCE, arena, shown
from tests.local.bots import CHANCE, FIRST, written

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
HOUSE = ("house:random", "house:careful", "house:counter")
NULLERN = ("--game", "nullern", "--seed", 5, "--concurrency", 1)


def event(*words: object, status: int) -> dict[str, Any]:
    """Run an event with an expected exit status, and return its result."""
    ran = arena("match", *words, "--json")
    assert ran.exit_code == status, ran.output
    found: dict[str, Any] = json.loads(ran.stdout)["result"]
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a small event."""
    file = tmp_path_factory.mktemp("event") / "small.event"
    event(*HOUSE, *NULLERN, "--seats", 2, "--event", "race", "--budget", 12, "--out", file, status=4)
    return file


def test_a_clear_winner_is_found_and_anybody_can_check_it_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line[2:].split() for line in PAGE.read_text("utf-8").splitlines() if line.startswith("$ arena")]
    played, verify = lines[:2]
    words, file = (*played[2:], "--seed", "1", "--concurrency", "1"), verify[-1]
    assert (played[1], verify[1:3]) == ("match", ["event", "verify"])
    found = event(*words, "--replays", tmp_path / "games", status=0)
    assert found["winner"] == "house:counter"
    assert found["matches"] < 60
    assert found["standings"][-1]["bot"] == "house:random"
    text = shown("match", *words)
    assert "house:counter wins after" in text
    assert "another bot is better by more than" in text
    checked = shown("event", "verify", file)
    assert f"Lots, games, scores and decision of {found['matches']} matches agree." in checked
    assert json.loads(shown("event", "verify", file, "--json"))["result"] == found
    assert len([*(tmp_path / "games").iterdir()]) == found["matches"]
    assert "dealt by the match runner" in shown("replay", "verify", tmp_path / "games" / "match-1.jsonl.gz")


def test_the_order_of_the_bots_does_not_matter_and_few_bots_have_house_bots_at_their_table() -> None:
    rules = (*NULLERN, "--seats", 4, "--event", "all", "--budget", 6)
    found = event(*HOUSE, *rules, status=4)
    assert found == event(*reversed(HOUSE), *rules, status=4)
    assert [each["matches"] for each in found["standings"]] == [6, 6, 6]
    assert "Undecided after 6 matches: the best is perhaps" in arena("match", *HOUSE, *rules).stdout


@pytest.mark.process
def test_a_stopped_event_goes_on_to_the_same_result_with_any_number_of_workers(tmp_path: Path) -> None:
    bots = [written(tmp_path / "a"), written(tmp_path / "b", CHANCE), written(tmp_path / "c", FIRST), HOUSE[2]]
    words = [*bots, "--game", "nullern", "--seats", "2", "--seed", "7", "--event", "race", "--budget", "80"]
    out = tmp_path / "some.event"
    command = [*ARENA, "match", *words, "--out", str(out), "--concurrency", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as match:
        until = time.monotonic() + PATIENCE
        while not out.exists() or out.read_bytes().count(b"\n") < 5:
            assert time.monotonic() < until, "no table is finished"
            time.sleep(0.01)
        match.send_signal(signal.SIGINT)
        _, said = match.communicate(timeout=PATIENCE)
    assert match.returncode == 130
    assert f"the same command goes on, with --seed 7 --out {out}" in said
    whole = arena("match", *words, "--concurrency", 1, "--json")
    gone_on = arena("match", *words, "--out", out, "--concurrency", 2, "--json")
    assert json.loads(gone_on.stdout) == json.loads(whole.stdout)
    assert gone_on.exit_code == whole.exit_code
    verified(out)


def test_a_file_with_one_byte_changed_is_refused_by_name(small: Path, tmp_path: Path) -> None:
    content, changed = small.read_bytes(), tmp_path / "changed.event"
    starts = [0, *(at + 1 for at, byte in enumerate(content[:-1]) if byte == 10)]
    for at in sorted({*range(0, len(content), 997), *starts, *(start - 1 for start in starts[1:]), len(content) - 1}):
        changed.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(EventFileDiffersError, match=r"line|result|digests"):
            verified(changed)
    assert verified(small).document()["matches"] == 12


def test_what_was_forged_together_with_its_digests_is_found(small: Path, tmp_path: Path) -> None:
    lines = small.read_text().splitlines()
    forgeries: list[tuple[Callable[[dict[str, Any]], object], str]] = [
        (lambda table: table["games"][0]["scores"].reverse(), "ends with .* points; its choices give"),
        (lambda table: table["games"][0]["bots"].reverse(), "by lot it is"),
        (lambda table: table["games"][0]["actions"].pop(), "its choices give"),
    ]
    for forge, why in forgeries:
        table, last = json.loads(lines[1]), json.loads(lines[-1])
        forge(table)
        line = json.dumps(table)
        last["digests"]["tables"][table["set"]] = sha256(line.encode()).hexdigest()
        forged = tmp_path / "forged.event"
        forged.write_text("\n".join([lines[0], line, *lines[2:-1], json.dumps(last, sort_keys=True), ""]))
        ran = arena("event", "verify", forged)
        assert ran.exit_code == 1
        assert f"table {table['set']} " in ran.stderr
        with pytest.raises(EventFileDiffersError, match=why):
            verified(forged)
    missing = tmp_path / "missing.event"
    missing.write_text("\n".join([lines[0], *lines[2:], ""]))
    with pytest.raises(EventFileDiffersError, match="is missing"):
        verified(missing)


def test_an_unfinished_event_goes_on_and_another_one_is_refused(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "part.event"
    shutil.copy(small, file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:6]) + lines[6][:20])
    with pytest.raises(EventFileDiffersError, match="not complete"):
        verified(file)
    words = (*HOUSE, *NULLERN, "--seats", 2, "--event", "race", "--out", file)
    assert event(*words, "--budget", 12, status=4) == verified(small).document()
    assert verified(file).document() == verified(small).document()
    other = arena("match", *words, "--budget", 13)
    assert other.exit_code == 1
    assert "budget 12 there, 13 here" in other.stderr


def test_nonsense_is_refused_by_name() -> None:
    for words, why in (
        (("house:random", "house:random", "--event", "race"), "'house:random' is entered 2 times"),
        ((*HOUSE, "--event", "race", "--sets", 3), "--sets compares pairs"),
        ((*HOUSE, "--event", "race", "--round-robin"), "--round-robin compares pairs"),
        ((*HOUSE, "--round-robin", "--budget", 3), "--budget is for --event"),
        ((*HOUSE, "--event", "race", "--sandbox"), "--sandbox"),
    ):
        ran = arena("match", *words)
        assert ran.exit_code == 2
        assert why in ran.stderr.replace("\n", " ")
