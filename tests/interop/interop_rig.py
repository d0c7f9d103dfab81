"""Shared parts of all clients in `tests/interop`: the expected data of a server, and a server with a house bot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import ROOT, Server, replay_of, server

HERE: Final = Path(__file__).parent
PROTOS: Final = ROOT / "proto"
BUILD: Final = ROOT / "build" / "interop"
"""The folder for files that the tools download and compile. It speeds up the next run."""
BUF: Final = Path(sys.executable).with_name("buf")
PATIENCE: Final = 120.0
SEATS: Final = ("--house", "--patience", "0.1", "--luck", "off", "--house-workers", "0", "--game", "nullern")


def tool(name: str) -> pytest.MarkDecorator:
    """Skip the test if a tool chain is missing, except in CI, where none may be missing."""
    missing = shutil.which(name) is None and os.environ.get("CI") != "true"
    return pytest.mark.skipif(missing, reason=f"there is no {name} here")


def built(*command: str | Path, where: Path, patience: float = 900.0, **environment: str) -> str:
    """Return a tool's output. If the tool fails, the error contains the output."""
    ran = subprocess.run(
        list(map(str, command)),
        cwd=where,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    assert ran.returncode == 0, f"{command[0]}: {ran.stdout}\n{ran.stderr}"
    return ran.stdout


def generated(language: str, to: Path, tools: Path) -> None:
    """Generate a language's code with `buf.gen.yaml` into a folder. `tools` is the folder with the plugins."""
    entries = (ROOT / "buf.gen.yaml").read_text().split("\n  - ")
    template = "\n  - ".join(each for each in entries if "out:" not in each or f"out: generated/{language}" in each)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    built(BUF, "generate", "--template", template, "--output", to, where=ROOT, PATH=path)


@contextmanager
def offered(folder: Path, tls: bool) -> Iterator[tuple[Server, tuple[str, ...]]]:
    """Run a server whose house bots play at once. Yield its address and the certificate file that a client must trust,
    if any.
    """
    more: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    if tls:
        shown("cert", folder / "tls")
        cert, key = folder / "tls" / "cert.pem", folder / "tls" / "key.pem"
        more, roots = ("--tls-cert", str(cert), "--tls-key", str(key)), (str(cert),)
    with server(folder / "data", "--drain", "0", *SEATS, *more, seats="3") as running:
        yield running, roots


def checked(tmp_path: Path, command: Sequence[str | Path], *, tls: bool, peculiar: Sequence[str] = ()) -> None:
    """Run a client with the server's address, a name, the protocol's files and the certificate to trust. Fail
    if it observes anything unexpected.

    `peculiar` lists known differences of this client's library.
    """
    with offered(tmp_path, tls) as (running, roots):
        arguments = [*map(str, command), running.address, "stranger", str(PROTOS), *roots]
        ran = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}\n{running.log}"
        saw: dict[str, Any] = json.loads(ran.stdout)
        _judge(saw, peculiar)
        if not tls:
            assert replay_of(running.address, saw["match"])
        assert "Traceback" not in running.log


def _judge(saw: dict[str, Any], peculiar: Sequence[str]) -> None:
    assert saw["answered"] > 10
    assert saw["interrupted"] == ""
    assert len(saw["scores"]) == 3
    assert [saw["match"], saw["scores"]] in saw["listed"]
    assert saw["replay"] > 50
    assert (saw["health"], saw["afterwards"], saw["at_once"]) == (1, 1, 30), saw
    assert saw["zipped"] is True
    expected = {
        "wrong_token": ("UNAUTHENTICATED", "no bot has this token; register one with BotService.RegisterBot"),
        "no_token": ("UNAUTHENTICATED", "send the metadata 'authorization: Bearer TOKEN'"),
        "too_big": ("RESOURCE_EXHAUSTED", ""),
        "too_big_zipped": ("RESOURCE_EXHAUSTED", ""),
        "zipped_refusal": ("INVALID_ARGUMENT", "name"),
        "too_late": ("DEADLINE_EXCEEDED", ""),
        "odd_text": ("NOT_FOUND", r"there is no service '100 % café\n' here"),
        "unknown": ("UNIMPLEMENTED", ""),
    }
    for what, (code, text) in expected.items():
        if what not in peculiar:
            assert saw[what][0] == code, f"{what}: {saw[what]}"
            assert text in saw[what][1], f"{what}: {saw[what]}"
