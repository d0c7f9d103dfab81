"""The SDK on a real server: a bot that is started twice, and one that finishes its matches before it leaves."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from arena_client.v1 import play_pb2

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


def test_the_author_of_a_slow_bot_reads_once_what_is_the_matter_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT.replace("0.01", "0.5"))
    hasty = ("--soft-limit", "0.3", "--bank", "1", "--seats", "2", "--patience", "0")
    began = time.monotonic()
    with serving(tmp_path / "data", *hasty) as running:
        command = [sys.executable, "bot.py", running.server]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    text, lines = ran.stderr, ran.stderr.splitlines()  # after three matches it is parked, and ends
    minutes = 1 + (time.monotonic() - began) // 60
    assert (
        text.count("this server gives 0.3 s each and 1 s a match besides; lower the bot's capacity (2 matches at once)")
        == 1
    )
    assert re.search(r"decisions take (0\.5|[1-9][\d.]*) s \(median\)|no decision came in time", text)
    assert "PlayRequest" not in text
    assert sum(": place " in line for line in lines) == 3, text
    for fault in ("forced by time", "stale", "suspended", "unknown"):
        assert sum(f": {fault}: " in line for line in lines) <= minutes, text


OVERSLEPT = """
import sys, time
from arena_client import Bot, run

class Oversleeps(Bot):
    name = "oversleeps"
    games = ("sixth_sense",)
    capacity = 4

    def decide(self, decision):
        print("asked", decision.closed, decision.soft_ms + decision.bank_ms, flush=True)
        time.sleep(0.8)
        print("thought", decision.closed, flush=True)
        return decision.legal[0]

    def on_notice(self, notice):
        print("notice", notice.kind, flush=True)

run(Oversleeps(), sys.argv[1], token_file="token", matches=3)
"""


def test_a_bot_that_oversleeps_is_asked_about_no_decision_that_was_made(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(OVERSLEPT)
    hasty = ("--soft-limit", "0.3", "--bank", "1", "--seats", "2", "--patience", "0")
    with serving(tmp_path / "data", *hasty) as running:
        command = [sys.executable, "bot.py", running.server]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    lines = [line.split() for line in ran.stdout.splitlines()]
    asked = [line[1:] for line in lines if line[0] == "asked"]
    assert asked, ran.stderr
    assert {closed for closed, _ in asked} == {"False"}
    assert sum(left == "0" for _, left in asked) <= len(asked) / 3, asked
    assert ["thought", "True"] in lines, "the one that it thinks about says that it is closed"
    notices = {int(line[1]) for line in lines if line[0] == "notice"}
    assert play_pb2.NOTICE_KIND_SUSPENDED in notices
    assert play_pb2.NOTICE_KIND_UNKNOWN not in notices
