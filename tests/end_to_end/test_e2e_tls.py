"""TLS end to end: a command creates the certificate, a server uses it, and bots accept or refuse it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import PATIENCE, program, server


def test_bots_play_over_tls_and_nobody_without_it_gets_in(tmp_path: Path) -> None:
    for folder in ("tls", "other"):
        shown("cert", tmp_path / folder)
    cert, key = tmp_path / "tls" / "cert.pem", tmp_path / "tls" / "key.pem"
    with server(tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key), "--house") as running:

        def bot(name: str, *tls: str) -> list[str]:
            command = ["-m", "arena_client.samples.random_bot", "--server", running.address, "--name", name]
            token = str(tmp_path / f"{name}.token")
            return [*command, "--token-file", token, "--matches", "1", "--give-up-after", "0.5", *tls]

        with program(*bot("ann", "--tls-roots", str(cert))) as ann:
            words, _ = ann.communicate(timeout=PATIENCE)
            assert ann.returncode == 0, words
        there = ("--server", running.address, "--tls-roots", cert, "--json")
        assert '"ann"' in shown("matches", *there)
        for tls in ((), ("--tls-roots", str(tmp_path / "other" / "cert.pem")), ("--tls",)):
            done = subprocess.run(
                [sys.executable, *bot("eve", *tls)], capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert done.returncode == 4
            assert ("is not trusted" if tls else "wants TLS") in done.stderr.splitlines()[-1]
        assert '"eve"' not in shown("bots", "list", *there)
