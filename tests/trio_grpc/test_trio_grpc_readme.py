"""The echo server of the package's page runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


@pytest.mark.process
def test_the_echo_server_of_the_readme_answers_a_client_of_grpc(tmp_path: Path) -> None:
    page = (ROOT / "trio_grpc" / "README.md").read_text()
    [program] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    address = f"unix:{tmp_path}/echo.sock"
    assert len(program.splitlines()) <= 20
    script = program.replace("127.0.0.1:50051", address)
    assert script != program
    with (
        subprocess.Popen([sys.executable, "-W", "error", "-c", script], cwd=ROOT) as server,
        grpc.insecure_channel(address) as channel,
    ):
        try:
            say = channel.stream_stream("/example.Echo/Say", StringValue.SerializeToString, StringValue.FromString)
            said = [StringValue(value=word) for word in ("one", "two", "")]
            assert [*say(iter(said), wait_for_ready=True, timeout=PATIENCE)] == said
            assert server.poll() is None
        finally:
            server.kill()
