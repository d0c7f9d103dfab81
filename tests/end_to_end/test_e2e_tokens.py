"""Tokens on a running server: after replacement or revocation they stop working at once, and their stream ends."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import grpc
import pytest

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import PATIENCE, Crowd, program, server, until


@pytest.mark.parametrize("verb", ["rotate", "revoke"])
def test_the_open_stream_dies_with_the_token_and_the_match_goes_on(tmp_path: Path, verb: str) -> None:
    with server(tmp_path / "data") as running, Crowd(running.address) as crowd:
        ann, bob = crowd.come("ann"), crowd.come("bob")
        bob.play_in_background()
        ann.read_until(lambda: ann.decisions)
        match = ann.decisions[0].match_id
        operator = ("--data", running.data)
        new = shown("bots", verb, "ann", *operator).strip()
        end = ann.last_word()
        assert end.code is grpc.StatusCode.UNAUTHENTICATED
        assert "the bot's token was" in end.text
        again = crowd.stranger(ann.token).last_word()
        assert again.code is grpc.StatusCode.UNAUTHENTICATED
        assert "no bot has this token" in again.text
        if verb == "revoke":
            new = shown("bots", "rotate", "ann", *operator).strip()
        back = crowd.stranger(new)
        back.play_until(lambda: back.reports)
        assert back.reports[0].match_id == match, "the seat was kept"
        assert back.reports[0].scores
        until(lambda: bob.reports, "the other to be told")


def test_a_bot_of_the_sdk_ends_and_says_that_its_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with server(tmp_path / "data") as running:
        command = ("-m", "arena_client.samples.random_bot", "--server", running.address, "--token-file", str(file))
        with program(*command) as bot:
            assert bot.stdout is not None
            assert any("is connected" in line for line in bot.stdout)
            old = file.read_text().strip()
            shown("bots", "rotate", "random", "--token-file", file, "--server", running.address)
            assert file.read_text().strip() != old
            assert bot.wait(PATIENCE) == 3
            assert "the server refuses the token: the bot's token was replaced" in bot.stdout.read()
        with program(*command, "--quiet") as bot:
            until(lambda: '"connected": true' in shown("bots", "list", "--json", "--server", running.address), "it")
            assert bot.poll() is None


def test_a_token_is_stored_as_its_sha_256_only(tmp_path: Path) -> None:
    with server(tmp_path / "data") as running, Crowd(running.address) as crowd:
        token = crowd.come("ann").token
        files = {path: path.read_bytes() for path in running.data.rglob("*") if path.is_file()}
        assert not [path for path, content in files.items() if token.encode() in content]
        database = sqlite3.connect(running.data / "arena.db")
        [(stored,)] = database.execute("SELECT token_hash FROM bots WHERE name = 'ann'")
        database.close()
    assert stored == hashlib.sha256(token.encode()).digest()
