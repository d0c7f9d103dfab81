"""`arena check`: correct bots pass. For any other bot the check finds exactly its fault."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from arena.local.check.checks import CHECKS, connections, with_needs
from arena.local.check.stage import A_MATCH, START, FaultError, Verdict, open_stage
from tests.bots.nonconforming import FAULTS
from tests.cli.cli_rig import ARENA, PATIENCE, arena
from tests.local.boxes import needs_boxes

ROOT: Final = Path(__file__).parents[2]
SAMPLES: Final = ("random_bot", "rule_bot", "counter_bot", "search_bot")
SDK: Final = ("--server", "{server}", "--token-file", "{token_file}")
QUICK: Final = {
    "EndsAtOnce": (),
    "NamesNoGame": (),
    "ShortNonce": ("nonce",),
    "PlaceInTheList": ("legal",),
    "NamesNotices": ("unknown-notice",),
    "NeverComesBack": ("reconnect",),
    "DiesAtSigterm": ("sigterm",),
}
"""Faults that are found quickly, each with the checks to run. All checks run if none is named."""


def checked(command: Sequence[object], *options: str, cwd: Path = ROOT) -> tuple[int, dict[str, Any]]:
    """Return the exit status and output of a check."""
    words = [*ARENA, "check", "--json", *options, "--", *map(str, command)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        words, capture_output=True, text=True, timeout=4 * PATIENCE, check=False, cwd=cwd, env=environment
    )
    assert ran.stdout, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return ran.returncode, found


def all_is_well(command: Sequence[object], *options: str, cwd: Path = ROOT) -> None:
    """Fail unless every check passes."""
    status, found = checked(command, *options, cwd=cwd)
    assert {each["name"]: each["text"] for each in found["checks"] if each["verdict"] != "pass"} == {}
    assert status == 0
    assert found["counts"] == {"pass": len(found["checks"]), "warn": 0, "fail": 0, "skip": 0}


def is_found(fault: str, *options: str) -> None:
    """Fail unless exactly the check for the fault finds it."""
    expected = FAULTS[fault][1]
    status, found = checked([sys.executable, "-m", "tests.bots.nonconforming", fault], *options)
    said = {each["name"]: each for each in found["checks"] if each["verdict"] in ("fail", "warn")}
    assert {name: each["verdict"] for name, each in said.items()} == {expected.check: expected.verdict}, said
    assert status == (expected.verdict == "fail")
    [one] = said.values()
    assert one["text"]
    assert one["remedy"]
    assert len(one["output"]) <= 12


@pytest.mark.process
def test_a_bot_that_keeps_the_protocol_passes_every_check() -> None:
    all_is_well([sys.executable, "-m", "tests.bots.plain_bot"])


@pytest.mark.process
def test_a_bot_that_plays_so_many_is_asked_for_256_decisions_at_once(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    all_is_well([sys.executable, "-m", "tests.bots.plain_bot", 256, seen], "--only", "batch")
    assert max(map(int, seen.read_text().split())) == 256


@pytest.mark.process
@pytest.mark.parametrize("fault", QUICK)
def test_a_fault_is_found(fault: str) -> None:
    is_found(fault, *(word for name in QUICK[fault] for word in ("--only", name)))


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_check_and_by_no_other(fault: str) -> None:
    is_found(fault)


@pytest.mark.process
async def test_a_bot_that_waits_for_a_silent_server_is_found_when_its_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test allows one second for reconnecting; the long tests allow the full time."""
    monkeypatch.setattr(connections, "NOTICED", 0.0)
    monkeypatch.setattr(connections, "GRACE", 1.0)
    command = [sys.executable, "-m", "tests.bots.nonconforming", "WaitsForTheSilent"]
    async with open_stage(command, tmp_path) as stage:
        with pytest.raises(FaultError, match="it did not connect again within 1 s"):
            await connections.silent_server.ask(stage)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_samples_pass(sample: str) -> None:
    all_is_well([sys.executable, "-m", f"arena_client.samples.{sample}", *SDK])


@pytest.mark.long
@pytest.mark.process
def test_the_bot_of_the_readme_passes(tmp_path: Path) -> None:
    bot = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    (tmp_path / "my_bot.py").write_text(bot)
    command = [sys.executable, "-m", "arena_client", "my_bot:MyBot", "{server}", "--token-file", "{token_file}"]
    all_is_well(command, cwd=tmp_path)


@pytest.mark.process
def test_a_bot_that_is_given_its_token_is_not_asked_to_register() -> None:
    random_bot = [sys.executable, "-m", "arena_client.samples.random_bot", "--server", "{host}:{port}"]
    status, found = checked([*random_bot, "--token", "{token}"], "--only", "token")
    assert status == 0
    verdicts = {each["name"]: each["verdict"] for each in found["checks"]}
    assert verdicts == {"start": "pass", "hello": "pass", "token": "skip"}
    assert found["bot"]["games"] == ["sixth_sense", "nullern"]
    assert found["bot"]["capacity"] == 8


@needs_boxes
@pytest.mark.process
def test_a_bot_in_a_box_passes_and_gets_at_nothing_outside(tmp_path: Path) -> None:
    """The check runs in a folder that others may read, unlike pytest's, because a bot that root sandboxes runs as
    another user.
    """
    folder, outside = tmp_path / "project", tmp_path / "secret"
    folder.mkdir(mode=0o755)
    outside.write_text("secret")
    command = [sys.executable, folder / "boxed.py"]
    only = [word for name in ("games", "heartbeat", "restart", "sigterm", "output") for word in ("--only", name)]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        (folder / "boxed.py").write_text(BOXED.replace("SECRET", str(outside)).replace("PORT", port))
        status, found = checked(command, "--sandbox", *only)
        plain_status, plain = checked(command, "--only", "hello")
    assert {each["name"]: each["text"] for each in found["checks"] if each["verdict"] != "pass"} == {}
    assert status == 0
    assert (found["bot"]["name"], found["bot"]["version"]) == ("checked", "in its box")
    assert (plain_status, plain["bot"]["version"]) == (0, "network, secret")


BOXED = """
import socket
from pathlib import Path
import arena_client

got = []
try:
    socket.create_connection(("127.0.0.1", PORT)).close()
    got.append("network")
except OSError:
    pass
try:
    got.append(Path("SECRET").read_text())
except OSError:
    pass

class Boxed(arena_client.Bot):
    name = "boxed"
    games = ("nullern",)
    version = ", ".join(got) or "in its box"

    def decide(self, decision):
        return decision.legal[0]

arena_client.run(Boxed())
"""


@pytest.mark.process
def test_who_wants_a_port_or_a_file_in_a_box_is_told_that_there_is_none() -> None:
    for holder in ("{host}", "{port}", "{token_file}"):
        result = arena("check", "--sandbox", "--", "bot", f"--to={holder}")
        assert result.exit_code == 2
        assert f"there is no {holder} in a box" in " ".join(result.stderr.split())


@pytest.mark.process
def test_a_command_that_cannot_be_run_is_named() -> None:
    result = arena("check", "--", "/nowhere/bot", "{server}")
    assert result.exit_code == 1
    assert re.search(
        r"the command /nowhere/bot 127.0.0.1:\d+ cannot be started: No such file or directory",
        result.stderr,
    )


@pytest.mark.process
def test_ctrl_c_ends_the_bot_and_all_that_it_started(tmp_path: Path) -> None:
    script = f"sleep 3600 & echo $! > {tmp_path}/child; wait"
    words = [*ARENA, "check", "--", "sh", "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
        child = tmp_path / "child"
        end = time.monotonic() + PATIENCE
        while not (child.exists() and child.read_text().strip()) and time.monotonic() < end:
            time.sleep(0.02)
        check.send_signal(signal.SIGINT)
        _, said = check.communicate(timeout=PATIENCE)
    assert check.returncode == 130, said
    assert "interrupted; the bot was ended" in said
    number = int(child.read_text())
    while time.monotonic() < end and runs(number):
        time.sleep(0.02)
    assert not runs(number)


def runs(number: int) -> bool:
    """Return True if a process runs. A zombie does not count."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_what_is_asked_wrongly_is_said() -> None:
    nothing = arena("check")
    assert nothing.exit_code == 2
    assert "name the command that starts the bot" in nothing.stderr
    unknown = arena("check", "--only", "wings", "--", "bot")
    assert unknown.exit_code == 2
    assert "there is no check 'wings'; arena check --list shows them" in unknown.stderr


def test_a_name_that_no_ladder_can_have_is_refused() -> None:
    wrong = arena("check", "--ladder", "Slow room", "--", "bot")
    assert wrong.exit_code == 2
    assert "no ladder can have the name 'Slow room': " in wrong.stderr


@pytest.mark.process
def test_a_bot_plays_on_a_further_ladder(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "from arena_client import Bot, conduct_of\n"
        "from arena_client.command import main\n"
        "class Slow(Bot):\n"
        "    games = ('nullern', 'sixth_sense')\n"
        "    def on_match_start(self, start):\n"
        "        limits = conduct_of(self.welcome, start).soft_limit_ms, self.welcome.conduct.soft_limit_ms\n"
        "        assert (start.ladder, start.game, *limits) == ('slow', 'nullern', 2000, 1000)\n"
        "    def decide(self, decision):\n"
        "        assert decision.soft_ms > 1000\n"
        "        return decision.legal[0]\n"
        "main(Slow, None)\n"
    )
    all_is_well([sys.executable, str(bot), *SDK], "--ladder", "slow", "--only", "games")


@pytest.mark.process
def test_a_hello_has_the_ladders_of_the_environment() -> None:
    asked = ("--ladder", "sixth_sense", "--only", "hello")
    all_is_well([sys.executable, "-m", "arena_client.samples.rule_bot", *SDK], *asked)
    status, found = checked([sys.executable, "-m", "tests.bots.nonconforming", "DiesAtSigterm"], *asked)
    assert status == 1
    assert "hello.ladders lacks sixth_sense" in found["checks"][-1]["text"]


def test_the_list_has_every_check() -> None:
    listed = json.loads(arena("check", "--list", "--json").stdout)["checks"]
    assert [each["name"] for each in listed] == [*CHECKS]
    assert all(each["asks"].endswith("?") and each["wants"].endswith(".") and each["remedy"] for each in listed)
    shown = arena("check", "--list").stdout
    assert all(name in shown for name in CHECKS)


def test_a_check_comes_after_those_that_it_needs() -> None:
    names = [*CHECKS]
    for each in CHECKS.values():
        assert {*each.needs} <= {*names[: names.index(each.name)]}
        assert {need.name for need in with_needs([each.name])} >= {each.name, *each.needs}


def test_every_page_is_there() -> None:
    assert {each.page for each in CHECKS.values() if not (ROOT / each.page).is_file()} == set()


def test_the_document_has_every_check() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", (ROOT / "docs" / "check.md").read_text(), re.MULTILINE)
    assert rows == [(each.name, each.asks) for each in CHECKS.values()]


def test_the_document_names_the_longest_wait() -> None:
    longest = max(START, A_MATCH, connections.NOTICED + connections.GRACE)
    assert f"a hanging bot fails within {longest:g} s" in (ROOT / "docs" / "check.md").read_text()


def test_every_check_has_a_bot_that_it_finds() -> None:
    found = {expected.check for _, expected in FAULTS.values()}
    assert {*CHECKS} - found == {"in-time", "pieces"}  # names of a machine and a library
    assert {expected.verdict for _, expected in FAULTS.values()} == {Verdict.FAIL.value, Verdict.WARN.value}
