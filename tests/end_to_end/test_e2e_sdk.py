"""The SDK's manners on a real server: a bot that is started twice, and one that finishes its matches."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_rig import PATIENCE, serving, shown

BOT = """
import sys, time
from arena_client import Bot, run

class Slow(Bot):
    name = "slow"
    capacity = 2

    def decide(self, decision):
        time.sleep(0.01)
        print("decides", flush=True)
        return decision.legal[0]

run(Slow(), sys.argv[1], token_file="token")
"""
pytestmark = pytest.mark.process


def begun(folder: Path, address: str) -> subprocess.Popen[str]:
    """A bot in the middle of a match."""
    (folder / "bot.py").write_text(BOT)
    bot = subprocess.Popen(
        [sys.executable, "bot.py", address], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert bot.stdout is not None
    assert bot.stdout.readline() == "decides\n"
    return bot


def test_a_bot_that_is_started_twice_plays_on_as_the_newer_one(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--seats", "2") as running:
        bots = [begun(tmp_path, running.server)]
        try:
            for _ in range(3):
                bots.append(begun(tmp_path, running.server))
                old = bots[-2]
                _, errors = old.communicate(timeout=PATIENCE)
                assert old.returncode == 3, errors
                last = errors.splitlines()[-1]
                assert last == "slow: the bot is connected from somewhere else: another connection of slow took over"
                assert "Traceback" not in errors
                assert bots[-1].poll() is None
        finally:
            for bot in bots:
                bot.kill()
                bot.communicate()


def test_ctrl_c_finishes_the_matches_and_loses_none(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--seats", "2") as running:
        bot = begun(tmp_path, running.server)
        try:
            bot.send_signal(signal.SIGINT)
            _, errors = bot.communicate(timeout=PATIENCE)
        finally:
            bot.kill()
        assert bot.returncode == 0, errors
        assert "finishing" in errors
        assert "leaving" not in errors
        matches = json.loads(shown("matches", "--server", running.server, "--bot", "slow", "--json"))["matches"]
        assert matches
        assert {match["state"] for match in matches} == {"finished"}
        assert [seat for match in matches for seat in match["seats"] if seat["bot"] == "slow" and seat["forced"]] == []
