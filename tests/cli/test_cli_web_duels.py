"""Results of `arena match` in the viewer's browser: the browser module, run by node, agrees with the command."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from arena.replay.hash_chain import unpack
from arena.replay.read import read
from arena.web.answers.static_files import static_path
from tests.cli.cli_rig import arena
from tests.cli.web_data import directory_of, pages_of

NODE = shutil.which("node")
MODULE = Path(str(files("arena.web"))) / "static" / "duel_summary.js"
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run(function: str, text: str) -> Any:
    """Return the module's result for a text, or its error."""
    program = (
        f"const found = await import({json.dumps(MODULE.as_uri())});"
        "let text = ''; for await (const piece of process.stdin) text += piece;"
        f"try {{ console.log(JSON.stringify(found.{function}(text))); }}"
        "catch (error) { console.log(JSON.stringify({ error: error.message })); }"
    )
    assert NODE is not None
    command = [NODE, "--input-type=module", "-e", program]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=180)
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Any]:
    """A file of deal pairs, a folder of replays, and the output of the command."""
    path = tmp_path_factory.mktemp("duel")
    sets, replays = path / "some.sets", path / "replays"
    bots = ["house:random", "house:careful", "--game", "sixth_sense", "--seats", "2"]
    result = arena("match", *bots, "--sets", 4, "--seed", 7, "--out", sets, "--replays", replays, "--json")
    assert result.exit_code == 0, result.output
    return sets, replays, json.loads(result.stdout)


@needs_node
def test_sets_are_summed_up_as_the_command_does(played: tuple[Path, Path, Any]) -> None:
    sets, _, said = played
    found = run("summaryOfSets", sets.read_text())
    assert (found["sets"], found["game"], found["seats"]) == (4, "sixth_sense", 2)
    comparison = said["comparison"]
    assert [found["won"], found["drawn"], found["lost"]] == [comparison[name] for name in ("won", "drawn", "lost")]
    assert found["difference"]["value"] == pytest.approx(comparison["difference"]["value"])
    low, high = comparison["interval"]
    assert found["difference"]["within"] == pytest.approx((high - low) / 2, rel=1e-6)
    assert [each["bot"] for each in found["bots"]] == ["house:random", "house:careful"]
    for own, theirs in zip(found["bots"], comparison["bots"], strict=True):
        assert own["points"]["value"] == pytest.approx(theirs["points"]["value"])


@needs_node
def test_a_replay_is_told_by_its_result(played: tuple[Path, Path, Any]) -> None:
    _, replays, _ = played
    file = min(replays.iterdir())
    replay, found = read(file), run("resultOfReplay", unpack(file.read_bytes()).decode())
    assert [each["bot"] for each in found["bots"]] == [bot.name for bot in replay.header.bots]
    assert [each["score"] for each in found["bots"]] == list(replay.result.scores)
    assert [each["place"] for each in found["bots"]] == list(replay.result.places)


@needs_node
def test_what_is_no_such_file_is_named(played: tuple[Path, Path, Any]) -> None:
    sets, _, _ = played
    lines = sets.read_text().splitlines(keepends=True)
    assert run("summaryOfSets", "".join(lines[:3]) + lines[3][:-9])["sets"] == 2, "a line that was cut off"
    assert run("summaryOfSets", "nothing\n") == {"error": "line 1 is not what such a file has"}
    assert run("summaryOfSets", "{}\n") == {"error": "it holds no sets of arena match --out"}
    assert run("summaryOfSets", lines[0].replace('"format": 1', '"format": 9')) == {
        "error": "its format is 9; this page knows 1"
    }
    assert run("resultOfReplay", '{"arena_replay":4,"bots":[]}\n') == {"error": "it has no result: it was cut off"}


def test_the_page_works_by_its_own_files_and_says_what_it_needs(tmp_path: Path) -> None:
    pages = pages_of(directory_of(tmp_path / "data"))
    text = pages.get("/duels").text
    assert f'<script type="module" src="{static_path("")}/duels.js"></script>' in text
    assert "This needs scripts" in text
    assert "Results cannot be published here yet." in text
    for name in ("duels.js", "duel_summary.js"):
        assert "javascript" in pages.get(f"{static_path('')}/{name}").headers["content-type"]
    assert 'href="/duels"' in pages.get("/write-a-bot").text
