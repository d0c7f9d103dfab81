"""grpc-java on Netty, with the code that Maven generates, plays a match on a real server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.interop.interop_rig import BUILD, HERE, PROTOS, built, checked, tool

pytestmark = [pytest.mark.long, tool("java"), tool("mvn")]


@pytest.fixture(scope="module")
def classes() -> str:
    """Return the folder of the compiled client and the libraries that the project file names."""
    folder = BUILD / "java"
    shutil.copytree(HERE / "java", folder, dirs_exist_ok=True)
    goals = ("compile", "dependency:copy-dependencies", "-DoutputDirectory=jars")
    built("mvn", "-q", "-B", f"-Dprotos={PROTOS}", *goals, where=folder)
    return f"{folder / 'target' / 'classes'}:{folder / 'jars'}/*"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_java_plays_looks_up_and_is_refused(tmp_path: Path, classes: str, tls: bool) -> None:
    checked(tmp_path, ["java", "-cp", classes, "Client"], tls=tls)
