"""`arena match --sandbox` names the features that the system lacks. No sandboxed process outlives the program."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, arena, shown
from tests.cli.test_cli_match import times_left_out
from tests.local.bots import FIRST, written
from tests.local.boxes import needs_boxes
from tests.local.test_local_commands import RUNS

pytestmark = [pytest.mark.process, needs_boxes]
WORDS = ("house:random", "--game", "nullern", "--seats", "2", "--seed", "5")


@pytest.fixture
def bot(tmp_path: Path) -> str:
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    return f"cmd:{shlex.quote(sys.executable)} {written(folder, FIRST + RUNS)}"


def without(folder: Path, option: str) -> dict[str, str]:
    """Return an environment in which bubblewrap fails with the given option, as on a system that forbids this
    option.
    """
    real = shutil.which("bwrap")
    script = f"""#!/bin/sh
for word in "$@"; do
    if [ "$word" = "--" ]; then break; fi
    if [ "$word" = "{option}" ]; then echo "bwrap: {option}: Operation not permitted" >&2; exit 1; fi
done
exec {real} "$@"
"""
    folder.mkdir()
    (folder / "bwrap").write_text(script)
    (folder / "bwrap").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_match_in_boxes_says_what_it_says_without(bot: str) -> None:
    words = ("match", bot, *WORDS, "--sets", "4", "--json")
    assert times_left_out(json.loads(shown("match", "--sandbox", *words[1:]))) == times_left_out(
        json.loads(shown(*words))
    )


@pytest.mark.parametrize(
    ("option", "lack"),
    [
        ("--unshare-net", "a network of its own"),
        ("--unshare-pid", "processes of its own"),
        ("--unshare-ipc", "messages of its own (System V IPC, host name)"),
        ("--seccomp", "a filter of system calls"),
    ],
)
def test_what_the_system_cannot_do_is_said_by_name(tmp_path: Path, bot: str, option: str, lack: str) -> None:
    environment = without(tmp_path / "bin", option)
    words = [*ARENA, "match", bot, *WORDS, "--sets", "2"]
    refused = subprocess.run([*words, "--sandbox"], env=environment, capture_output=True, text=True, check=False)
    said = f"{lack}: bwrap: {option}: Operation not permitted"
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "Error: this system cannot make a whole sandbox; these probes failed:",
        f"  {said}",
        "--sandbox=weak goes on without what is missing.",
    ]
    if option == "--seccomp":
        weak = subprocess.run([*words, "--sandbox=weak"], env=environment, capture_output=True, text=True, check=False)
        assert weak.returncode == 0, weak.stderr
        assert f"The sandbox is without {said}\n" in weak.stderr
        assert weak.stderr.count("The sandbox is without") == 1


def test_without_bubblewrap_it_says_so_and_weak_plays_with_limits_only(tmp_path: Path, bot: str) -> None:
    (tmp_path / "empty").mkdir()
    environment = {**os.environ, "PATH": str(tmp_path / "empty")}
    words = [*ARENA, "match", bot, *WORDS, "--sets", "2"]
    refused = subprocess.run([*words, "--sandbox"], env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "\n  bubblewrap: there is no program bwrap; apt-get install bubblewrap\n" in refused.stderr
    weak = subprocess.run([*words, "--sandbox=weak"], env=environment, capture_output=True, text=True, check=False)
    assert weak.returncode == 0, weak.stderr
    assert "The sandbox is without bubblewrap: there is no program bwrap" in weak.stderr


def test_only_commands_are_boxed_and_no_file_is_loaded_first(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    file = written(tmp_path, f"open({str(loaded)!r}, 'w')\n" + FIRST)
    refused = arena("match", file, *WORDS, "--sandbox")
    assert refused.exit_code == 2
    assert f"{file} is loaded by this program itself: name it as 'cmd:python {file}'" in refused.output
    assert not loaded.exists()
    none = arena("match", "house:careful", *WORDS, "--sandbox")
    assert "--sandbox is for commands, and there is none" in none.output
    assert none.exit_code == 2


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, None], ids=["SIGINT", "SIGKILL", "keeper"])
def test_whoever_ends_the_runner_or_a_keeper_no_box_is_left(
    tmp_path: Path, bot: str, how: signal.Signals | None
) -> None:
    out = tmp_path / "bot.sets"
    words = [*ARENA, "match", bot, *WORDS, "--sets", "1000", "--sandbox", "--out", str(out)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as match:
        until = time.monotonic() + PATIENCE
        while not out.exists() or out.read_bytes().count(b"\n") < 3:
            assert match.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        boxes = processes_with(str(tmp_path)) - {match.pid}
        assert len(boxes) >= 3, "bubblewrap twice and the bot"
        if how is None:
            [keeper] = [pid for pid in processes_with("keeper.py") if parent(pid) == match.pid]
            os.kill(keeper, signal.SIGKILL)
            assert match.wait(PATIENCE) == 1
        else:
            match.send_signal(how)
    while processes_with(str(tmp_path)):
        assert time.monotonic() < until
        time.sleep(0.01)


def parent(process: int) -> int | None:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def processes_with(word: str) -> set[int]:
    """Return the processes whose command lines contain a word."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found
