"""The package is independent of the arena: its README shows a complete server, and neither code nor tests import the
arena.
"""

from __future__ import annotations

import ast
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


def test_neither_the_package_nor_its_tests_import_anything_of_the_arena() -> None:
    ours = {"arena", "arena_client", "bench", "engine", "tests"}
    found = set()
    for folder in ("trio_grpc", "tests/trio_grpc"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                found |= {name for name in names if name.partition(".")[0] in ours}
    assert {name for name in found if not name.startswith("tests.trio_grpc.")} == {"tests.waiting"}
