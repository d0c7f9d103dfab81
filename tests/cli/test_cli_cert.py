"""`arena cert`: one command creates a certificate, or reports why it cannot."""

from __future__ import annotations

import json
import ssl
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli.cli_rig import arena, serving, shown


def test_a_server_with_it_is_reached_by_who_trusts_it_and_by_nobody_else(tmp_path: Path) -> None:
    document = json.loads(shown("cert", tmp_path / "tls", "--json"))
    assert (document["hosts"], document["days"]) == (["localhost", "127.0.0.1", "::1"], 90)
    cert, key = Path(document["cert"]), Path(document["key"])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert {path.name for path in (tmp_path / "tls").iterdir()} == {"cert.pem", "key.pem"}
    shown("cert", tmp_path / "other")
    with serving(tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        assert shown("bots", "list", "--server", server.server, "--tls-roots", cert)
        port = server.server.rpartition(":")[2]
        assert shown("bots", "list", "--server", f"localhost:{port}", "--tls-roots", cert)
        for wrong in (("--tls-roots", tmp_path / "other" / "cert.pem"), ("--tls",), ()):
            result = arena("bots", "list", "--server", server.server, *wrong)
            assert result.exit_code == 1
            assert f"no arena answers at {server.server}" in result.output


def test_it_says_how_to_go_on(tmp_path: Path) -> None:
    result = arena("cert", tmp_path, "--host", "arena.example.org", "--host", "10.0.0.7", "--days", "7")
    assert result.stdout == f"arena serve --tls-cert {tmp_path / 'cert.pem'} --tls-key {tmp_path / 'key.pem'}\n"
    assert "--tls-roots" in result.stderr
    names = ssl._ssl._test_decode_cert(str(tmp_path / "cert.pem"))["subjectAltName"]  # type: ignore[attr-defined]
    assert names == (("DNS", "arena.example.org"), ("IP Address", "10.0.0.7"))


def test_it_signs_nothing_else(tmp_path: Path) -> None:
    shown("cert", tmp_path)
    told = subprocess.run(
        ["openssl", "x509", "-noout", "-ext", "basicConstraints,keyUsage", "-in", tmp_path / "cert.pem"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "CA:FALSE" in told, "rustls takes no certificate of an authority for that of a server"
    assert "Certificate Sign" not in told


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("precious")
    result = arena("cert", tmp_path)
    assert result.exit_code == 1
    assert f"{tmp_path / 'key.pem'} is there already" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["key.pem"]
    assert (tmp_path / "key.pem").read_text() == "precious"


def test_without_openssl_it_says_what_to_install(tmp_path: Path) -> None:
    result = arena("cert", tmp_path / "tls", env={"PATH": str(tmp_path)})
    assert result.exit_code == 1
    assert "the program openssl is not there; install it: `apt install openssl`" in result.output
    assert not (tmp_path / "tls").exists()


def test_an_openssl_that_fails_is_quoted(tmp_path: Path) -> None:
    program = tmp_path / "openssl"
    program.write_text("#!/bin/sh\necho no entropy today >&2\nexit 1\n")
    program.chmod(0o755)
    result = arena("cert", tmp_path / "tls", env={"PATH": str(tmp_path)})
    assert result.exit_code == 1
    assert "openssl failed: no entropy today" in result.output
    assert list((tmp_path / "tls").iterdir()) == []


@pytest.mark.parametrize("host", ["", "a b", "x,IP:1.2.3.4", "a\nb"])
def test_a_host_that_is_none_is_wrong_usage(tmp_path: Path, host: str) -> None:
    result = arena("cert", tmp_path, "--host", host)
    assert result.exit_code == 2
    assert "neither a host's name nor an address" in result.output
