"""h2spec, the conformance tests of HTTP/2 that servers are measured by: what fails is named here, with the reason."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from tests.interop.interop_rig import BUILD, PATIENCE, built, offered, tool

H2SPEC: Final = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"
NO_CONTENT: Final = "h2spec asks with GET and waits for a page; who asks gRPC so has 405 with no content"
OVER: Final = "the 405 has ended the call before the offence comes"
AT_ONCE: Final = "calls that are answered at once with 405 are never open at the same time"
BY: Final = (
    "content-length means nothing to gRPC, whose messages have lengths of their own; and the 405 has ended the call"
)
ALLOWED: Final = {
    ("generic/2", "Sends a WINDOW_UPDATE frame on half-closed (remote) stream"): NO_CONTENT,
    ("generic/2", "Sends a PRIORITY frame on half-closed (remote) stream"): NO_CONTENT,
    (
        "http2/5.1.2",
        "Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded",
    ): AT_ONCE,
    (
        "http2/6.9.1",
        "Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream",
    ): OVER,
    ("http2/8.1", "Sends a second HEADERS frame without the END_STREAM flag"): OVER,
    ("http2/8.1.2.1", "Sends a HEADERS frame that contains a pseudo-header field as trailers"): OVER,
    (
        "http2/8.1.2.6",
        'Sends a HEADERS frame with the "content-length" header field which does not equal the DATA frame payload '
        "length",
    ): BY,
    (
        "http2/8.1.2.6",
        'Sends a HEADERS frame with the "content-length" header field which does not equal the sum of the multiple '
        "DATA frames payload length",
    ): BY,
}
"""`test_http2_frames.py` holds the same with calls that stay open, where that can be."""

pytestmark = [pytest.mark.long, tool("go")]


@pytest.fixture(scope="module")
def h2spec() -> Path:
    """Somebody else's program."""
    BUILD.mkdir(parents=True, exist_ok=True)
    if not (BUILD / "h2spec").exists():
        built("go", "install", H2SPEC, where=BUILD, GOBIN=str(BUILD), GOFLAGS="")
    return BUILD / "h2spec"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_h2spec_finds_what_is_known_and_nothing_else(tmp_path: Path, h2spec: Path, tls: bool) -> None:
    report = tmp_path / "report.xml"
    with offered(tmp_path, tls) as (running, _):
        host, _, port = running.address.rpartition(":")
        command = [str(h2spec), "-h", host, "-p", port, "-P", "/grpc.health.v1.Health/Check", "-o", "5"]
        command += ["-j", str(report), *(["-t", "-k"] if tls else [])]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
        assert report.exists(), ran.stdout + ran.stderr
        assert "Traceback" not in running.log
    cases = ET.parse(report).iter("testcase")
    found = {(case.get("package"), case.get("classname")): [part.tag for part in case] for case in cases}
    assert len(found) > 120
    failed = {name for name, parts in found.items() if "failure" in parts or "error" in parts}
    assert failed <= set(ALLOWED), ran.stdout
