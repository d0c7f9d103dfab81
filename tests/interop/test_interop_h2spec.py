"""h2spec, the conformance tests for HTTP/2 servers. The list of failing cases here states the reasons."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from tests.interop.interop_rig import BUILD, HERE, PATIENCE, built, offered, tool

H2SPEC: Final = "github.com/summerwind/h2spec/cmd/h2spec"
GROUPS: Final = ("generic", "http2", "hpack")
"""Groups of h2spec's cases, in h2spec's order."""
NO_CONTENT: Final = "h2spec asks with GET and waits for a page; who asks gRPC so has 405 with no content"
OVER: Final = "the 405 has ended the call before the offence comes"
AT_ONCE: Final = "calls that are answered at once with 405 are never open at the same time"
BY: Final = (
    "content-length means nothing to gRPC, whose messages have lengths of their own; and the 405 has ended the call"
)
UNFIT: Final = {
    "generic/2/2": NO_CONTENT,
    "generic/2/3": NO_CONTENT,
    "http2/5.1.2/1": AT_ONCE,
    "http2/6.9.1/3": OVER,
    "http2/8.1/1": OVER,
    "http2/8.1.2.1/3": OVER,
    "http2/8.1.2.6/1": BY,
    "http2/8.1.2.6/2": BY,
}
"""Cases that fail. Where possible, `test_http2_frames.py` tests the same behaviour with open calls."""

pytestmark = tool("go")


@pytest.fixture(scope="module")
def h2spec() -> Path:
    """Return the path of an external program."""
    BUILD.mkdir(parents=True, exist_ok=True)
    built("go", "build", "-o", BUILD / "h2spec", H2SPEC, where=HERE / "h2spec", GOFLAGS="-buildvcs=false")
    return BUILD / "h2spec"


@pytest.fixture(scope="module")
def cases(h2spec: Path) -> list[str]:
    """Return every case with h2spec's numbering: group, section, number in the section."""
    listed = subprocess.run([h2spec, "--dryrun"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    found, section, groups = [], "", iter(GROUPS)
    group = ""
    for line in filter(None, map(str.strip, listed.splitlines())):
        if case := re.match(r"(\d+): ", line):
            found.append(f"{group}/{section}/{case[1]}")
        elif title := re.match(r"([\d.]+)\. ", line):
            section = title[1]
        else:
            group = next(groups)
    assert len(found) > 140
    return found


def failures(h2spec: Path, folder: Path, cases: Sequence[str], *, tls: bool, patience: int) -> list[str]:
    """Return the titles of failing cases. In these cases the server does not react correctly within the given
    seconds.
    """
    report = folder / "report.xml"
    with offered(folder, tls) as (running, _):
        host, _, port = running.address.rpartition(":")
        command = [str(h2spec), "-h", host, "-p", port, "-P", "/grpc.health.v1.Health/Check", "-o", str(patience)]
        command += ["-j", str(report), *(["-t", "-k"] if tls else []), *cases]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
        assert report.exists(), ran.stdout + ran.stderr
        assert "Traceback" not in running.log
    found = list(ET.parse(report).iter("testcase"))
    assert len(found) == len(cases), ran.stdout
    return [
        f"{case.get('package')} {case.get('classname')}"
        for case in found
        if {"failure", "error"} & {part.tag for part in case}
    ]


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_h2spec_finds_nothing(tmp_path: Path, h2spec: Path, cases: list[str], tls: bool) -> None:
    fit = [case for case in cases if case not in UNFIT]
    assert failures(h2spec, tmp_path, fit, tls=tls, patience=60) == []


@pytest.mark.long
def test_h2spec_still_finds_what_is_no_fault(tmp_path: Path, h2spec: Path, cases: list[str]) -> None:
    assert set(UNFIT) <= set(cases)
    assert len(failures(h2spec, tmp_path, list(UNFIT), tls=False, patience=2)) == len(UNFIT)
