"""`arena drain`: a server finishes its matches and stops, and the operator sees its progress to the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.cli_rig import ARENA, PATIENCE, Played, arena, let_play, serving, shown, terminal


@contextmanager
def in_the_middle_of_a_match(server: Played, tokens: Path) -> Iterator[None]:
    """Two bots play. One of them pauses while a match waits for its answer, and continues after the `with` block."""
    code = (
        "import sys, time; from arena_client import Bot, run\n"
        "class Slow(Bot):\n"
        "    name = sys.argv[2]; games = ('sixth_sense',)\n"
        "    def decide(self, decision):\n"
        "        print('asked', flush=True); sys.stdin.readline(); return decision.legal[0]\n"
        "run(Slow(), sys.argv[1], token_file=sys.argv[3], verbose=False)"
    )
    bots = [
        subprocess.Popen(
            [sys.executable, "-c", code, server.server, name, str(tokens / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for name in ("slow-1", "slow-2")
    ]
    try:
        assert bots[0].stdout is not None
        assert bots[0].stdout.readline() == b"asked\n"
        yield
    finally:
        for bot in bots:
            bot.kill()
            bot.communicate()


def test_a_drained_server_is_gone_and_another_may_start_at_once(empty: Path, tmp_path: Path) -> None:
    with serving(empty, "--no-house", "--seats", "3") as server:
        let_play(server.server, tmp_path, 1)
        document = json.loads(shown("drain", "--data", empty, "--json"))
        assert document == {"left": 0}
        with serving(empty) as again:
            assert shown("matches", "--server", again.server)
            assert shown("drain", "--data", empty) == "Every match ended; the server is gone.\n"


def test_what_outlasts_the_limit_is_left_to_the_next_start_with_a_status_of_its_own(
    empty: Path, tmp_path: Path
) -> None:
    with (
        serving(empty, "--no-house", "--seats", "2", "--matches-per-bot", "1") as server,
        in_the_middle_of_a_match(server, tmp_path),
    ):
        result = arena("drain", "--data", empty, "--limit", "0.2")
    assert result.exit_code == 3, result.output
    assert "1 match left to the next start" in result.stdout
    assert "draining: 1 match being played" in result.stderr
    [row] = json.loads(shown("matches", "--data", empty, "--json"))["matches"]
    assert row["state"] == "playing", "it is not lost"


def test_who_watches_may_go_and_come_back_to_hurry(empty: Path, tmp_path: Path) -> None:
    with (
        serving(empty, "--no-house", "--seats", "2", "--matches-per-bot", "1") as server,
        in_the_middle_of_a_match(server, tmp_path),
    ):
        with terminal("drain", "--data", empty, "--limit", "1000") as screen:
            screen.expect("draining: 1 match being played")
            screen.press("\x03")
            screen.expect("the server goes on draining")
            assert screen.end() == 1
        assert arena("drain", "--data", empty, "--limit", "0").exit_code == 3


def test_without_a_server_there_is_nothing_to_drain(empty: Path) -> None:
    result = arena("drain", "--data", empty)
    assert result.exit_code == 1
    assert f"no server works on {empty}" in result.output


def test_a_server_that_dies_meanwhile_is_a_failure(empty: Path, tmp_path: Path) -> None:
    with (
        serving(empty, "--no-house", "--seats", "2", "--matches-per-bot", "1") as server,
        in_the_middle_of_a_match(server, tmp_path),
    ):
        command = [*ARENA, "drain", "--data", str(empty), "--limit", "1000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as drain:
            assert drain.stderr is not None
            assert "1 match" in drain.stderr.readline()
            os.kill(server.pid, 9)
            assert drain.wait(PATIENCE) == 1
            assert "no arena answers" in drain.stderr.read()
