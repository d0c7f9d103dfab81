"""A server that cannot start names the cause in one line."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.cli_rig import arena
from tests.end_to_end.e2e_rig import failing_server, server


def test_a_second_server_on_the_same_directory_names_it_and_the_process(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--quiet") as running:
        status, words = failing_server("--data", str(running.data), "--address", "127.0.0.1:0")
        assert status == 1
        assert str(running.data) in words
        assert f"process id {running.process.pid}" in words
        status, words = failing_server("--data", str(tmp_path / "other"), "--address", running.address)
        assert status == 1
        assert running.address in words
        assert "Traceback" not in words


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        status, words = failing_server("--data", str(tmp_path / "data"), "--address", address)
    assert status == 1
    assert address in words
    assert "Traceback" not in words


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--data", "{tmp}/file"], 1, "{tmp}/file"),
        (["--option", "volume=11"], 2, "no option 'volume'"),
        (["--option", "novice"], 2, "an option is written NAME=VALUE, not 'novice'"),
        (["--option", "novice=maybe"], 2, "'maybe'"),
        (["--seats", "9"], 2, "2 to 6 seats, not 9"),
        (["--game", "chess"], 2, "chess"),
        (["--nonsense"], 2, "--nonsense"),
        (["--tls-cert", "{tmp}/file"], 2, "--tls-cert and --tls-key go together"),
        (["--tls-cert", "{tmp}/file", "--tls-key", "{tmp}/missing"], 1, "{tmp}/missing"),
        (["--tls-cert", "{tmp}/file", "--tls-key", "{tmp}/file"], 1, "{tmp}/file"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, arguments: list[str], status: int, words: str) -> None:
    (tmp_path / "file").write_text("no certificate")
    data = [] if "--data" in arguments else ["--data", str(tmp_path / "data")]
    said = arena("serve", *data, "--address", "127.0.0.1:0", *(word.format(tmp=tmp_path) for word in arguments))
    assert said.exit_code == status, said.output
    assert words.format(tmp=tmp_path) in said.output
