"""TLS from the certificate to the last card: one verb makes it, a server shows it, bots trust it or stay away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.end_to_end.e2e_rig import ARENA, PATIENCE, ROOT, program, server


def arena(*words: object) -> subprocess.CompletedProcess[str]:
    command = [str(ARENA), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT, check=False)


def test_bots_play_over_tls_and_nobody_without_it_gets_in(tmp_path: Path) -> None:
    assert arena("cert", tmp_path / "tls").returncode == 0
    assert arena("cert", tmp_path / "other").returncode == 0
    cert, key = tmp_path / "tls" / "cert.pem", tmp_path / "tls" / "key.pem"
    with server(tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key), "--house") as running:

        def bot(name: str, *tls: str) -> list[str]:
            command = ["-m", "arena_client.samples.random_bot", "--server", running.address, "--name", name]
            token = str(tmp_path / f"{name}.token")
            return [*command, "--token-file", token, "--matches", "1", "--give-up-after", "0.5", *tls]

        with program(*bot("ann", "--tls-roots", str(cert))) as ann:
            words, _ = ann.communicate(timeout=PATIENCE)
            assert ann.returncode == 0, words
        listed = arena("matches", "--server", running.address, "--tls-roots", cert, "--json")
        assert listed.returncode == 0, listed.stderr
        assert '"ann"' in listed.stdout
        for tls in ((), ("--tls-roots", str(tmp_path / "other" / "cert.pem")), ("--tls",)):
            done = subprocess.run(
                [sys.executable, *bot("eve", *tls)], capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert done.returncode == 4
            assert ("is not trusted" if tls else "wants TLS") in done.stderr.splitlines()[-1]
        listed = arena("bots", "list", "--server", running.address, "--tls-roots", cert, "--json")
        assert '"eve"' not in listed.stdout
