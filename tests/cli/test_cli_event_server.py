"""Events on a real server with real bots: announcement, `kill -9` and restart, and a bundle that anybody can verify."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.queries.events import BundleDiffersError, verify_bundle
from tests.cli.cli_rig import PATIENCE, arena, serving, shown

NAMES = ("ann", "bob", "cleo", "dora", "emil")
SAMPLES = ("counter_bot", "rule_bot", "random_bot", "rule_bot", "random_bot")
BUDGET = 12


@contextmanager
def playing(address: str, tokens: Path, event: str) -> Iterator[None]:
    """Sample bots that enter an event as soon as they connect."""
    programs = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", f"arena_client.samples.{sample}", "--quiet", "--server", address),
                *("--name", name, "--token-file", str(tokens / f"{name}.token"), "--capacity", "1"),
                *("--game", "sixth_sense", "--event", event),
            ],
            stderr=subprocess.DEVNULL,
        )
        for name, sample in zip(NAMES, SAMPLES, strict=True)
    ]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def event(data: Path, *words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown("event", *words, "--data", data, "--json"))
    return found


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.5)


def free_address() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


def tampered(content: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(7))]) + content[at + 1 :]


@pytest.mark.process
@pytest.mark.long
def test_an_event_is_held_killed_finished_exported_and_verified(tmp_path: Path) -> None:
    data, address = tmp_path / "data", free_address()
    options = ("--address", address, "--drain", "0")
    with serving(data, *options) as server, playing(address, tmp_path, "friday"):
        refused = arena(
            "event", "create", "friday", "--ladder", "chess", "--start", "+1h", "--budget", 9, "--data", data
        )
        assert "this server has the ladders" in refused.output
        create = ("create", "friday", "--ladder", "sixth_sense", "--start", "+1h", "--budget", BUDGET, "--data", data)
        assert "announced; bots enter it with --event friday" in shown("event", *create)
        assert "there is an event 'friday' already" in arena("event", *create).output
        until(lambda: len(event(data, "show", "friday")["entrants"]) == len(NAMES))
        assert "has entered the event friday already" in arena("event", "enter", "friday", "ann", "--data", data).output
        [row] = event(data, "list")["events"]
        assert (row["state"], row["entrants"], row["matches"]) == ("announced", len(NAMES), BUDGET)
        shown("event", "start", "friday", "--data", data)
        until(lambda: event(data, "show", "friday")["rounds"] >= 3)
        assert "is playing and has no result" in arena("event", "result", "friday", "--data", data).output
        refused = arena("event", "cancel", "friday", "--data", data)
        assert "it ends by its budget; only before is it cancelled" in refused.output
        os.kill(server.pid, signal.SIGKILL)
    before = event(data, "show", "friday")["rounds"]
    assert "tell" not in arena("event", "start", "friday", "--data", data).output, "no server runs"
    with serving(data, *options), playing(address, tmp_path, "friday"):
        until(lambda: event(data, "show", "friday")["event"]["state"] == "finished")
    found = arena("event", "result", "friday", "--data", data, "--json")
    result = json.loads(found.stdout)
    assert found.exit_code == (0 if result["decided"] else 4)
    assert result["matches"] == BUDGET
    assert {each["bot"] for each in result["standings"]} == {*NAMES}
    assert event(data, "show", "friday")["rounds"] > before
    assert "say what the tables say" in shown("log", "audit", "--data", data, "--replays")
    bundle = tmp_path / "friday.bundle"
    shown("event", "export", "friday", bundle, "--data", data)
    checked = shown("event", "verify", bundle)
    assert f"Proofs, lots, games, scores and decision of {BUDGET} matches agree." in checked
    log = json.loads(shown("log", "head", "--data", data, "--json"))["log"]
    assert f"those of the log {log};" in checked
    assert json.loads(shown("event", "verify", bundle, "--json")) == {"event": "friday", "log": log, "result": result}
    content, chance, other = bundle.read_bytes(), Random(1), tmp_path / "other.bundle"
    lines = content.split(b"\n")
    changed = [b"\n".join([*lines[:at], *lines[at + 1 :]]) for at in (0, 1, 2, 3, len(lines) // 2, len(lines) - 2)]
    changed += [tampered(content, chance) for _ in range(12)]
    for each in changed:
        other.write_bytes(each)
        assert arena("event", "verify", other).exit_code == 1
    other.write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
    with pytest.raises(BundleDiffersError, match="the replay of match"):
        verify_bundle(other)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--budget", "0", "--start", "+1h"), "neither a number of matches, such as 375, nor a time"),
        (("--budget", "9", "--start", "soon"), "neither a time such as 2026-12-01T18:00 nor a delay"),
        (("--budget", "9", "--start", "+1h", "--entrants", "nowhere.txt"), "--entrants takes open, invited or a file"),
    ],
)
def test_bad_words_are_refused_by_name(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    refused = arena("event", "create", "friday", "--ladder", "nullern", *words, "--data", tmp_path)
    assert refused.exit_code != 0
    assert why in " ".join(refused.output.split())
