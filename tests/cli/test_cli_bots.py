"""`arena bots`: invitations, and information about existing bots."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import grpc
import pytest
from arena_client.v1 import bots_pb2, bots_pb2_grpc
from rich.console import Console

from arena.cli.terminal.tables import bots_table
from arena.store.base.rows import BotRow
from tests.cli.cli_rig import PATIENCE, arena, serving, shown

CODE = re.compile(r"invitation_\S+")


def invited(*arguments: object) -> str:
    found = CODE.fullmatch(shown("bots", "invite", "--owner", "alice", *arguments).strip())
    assert found
    return found[0]


def register(server: str, name: str, code: str) -> None:
    with grpc.insecure_channel(server) as channel:
        request = bots_pb2.RegisterBotRequest(name=name, owner="mallory", invitation=code)
        bots_pb2_grpc.BotServiceStub(channel).RegisterBot(request, timeout=PATIENCE)


def test_invitation_registers_one_bot_of_its_owner(empty: Path) -> None:
    """One invitation is created before a server runs on the directory, the other while it runs."""
    codes = [invited("--data", empty)]
    with serving(empty, "--registration", "invited") as server:
        codes.append(invited("--data", empty))
        for number, code in enumerate(codes):
            register(server.server, f"bot-{number}", code)
        with pytest.raises(grpc.RpcError, match="used already"):
            register(server.server, "bot-2", codes[0])
        rows = json.loads(shown("bots", "list", "--json", "--server", server.server))["bots"]
    assert [row["bot"] for row in rows if row["owner"] == "alice"] == ["bot-0", "bot-1"]


def test_bots_that_are_there_are_shown_as_such(empty: Path, tmp_path: Path) -> None:
    with serving(empty, "--no-house") as server:
        command = (
            sys.executable,
            "-m",
            "arena_client.samples.random_bot",
            "--server",
            server.server,
            "--owner",
            "alice",
        )
        with subprocess.Popen([*command, "--token-file", str(tmp_path / "token")], stderr=subprocess.PIPE) as bot:
            assert bot.stderr is not None
            assert b"connected" in bot.stderr.readline() + bot.stderr.readline()
            [row] = json.loads(shown("bots", "list", "--json", "--server", server.server))["bots"]
            text = shown("bots", "list", "--server", server.server)
            bot.terminate()
    assert (row["bot"], row["owner"], row["connected"], row["playing"]) == ("random", "alice", True, 0)
    assert "● waits" in text


def test_invitation_as_json(empty: Path) -> None:
    document = json.loads(shown("bots", "invite", "--owner", "bob", "--data", empty, "--json"))
    assert document["owner"] == "bob"
    assert CODE.fullmatch(document["invitation"])


def test_invitation_for_a_name_that_is_not_allowed_fails(empty: Path) -> None:
    result = arena("bots", "invite", "--owner", "house", "--data", empty)
    assert result.exit_code == 1
    assert "not allowed" in result.output


def test_invitation_without_a_directory_is_wrong_usage_or_fails(tmp_path: Path) -> None:
    assert arena("bots", "invite", "--owner", "alice").exit_code == 2
    result = arena("bots", "invite", "--owner", "alice", "--data", tmp_path / "none")
    assert result.exit_code == 1
    assert "a server started on it makes one" in result.output


def test_paces_are_shown_where_a_server_knows_them() -> None:
    slow = BotRow("slow", "eve", False, True, 0, 3, datetime.now(UTC), 1.5, "", "1", 0, 0, 900.0)
    for rows, shown_pace in (([slow], True), ([replace(slow, pace_ms=None)], False)):
        console = Console(width=150, file=StringIO())
        console.print(bots_table("Bots", rows, datetime.now(UTC)))
        assert isinstance(console.file, StringIO)
        text = console.file.getvalue()
        assert ("Pace" in text, "900.0 ms" in text) == (shown_pace, shown_pace)
