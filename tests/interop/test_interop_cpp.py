"""grpc++, with the code that protoc generates, plays a match on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.interop_rig import BUILD, HERE, PROTOS, built, checked, tool

pytestmark = [pytest.mark.long, tool("cmake"), tool("grpc_cpp_plugin")]


@pytest.fixture(scope="module")
def client() -> Path:
    """Return the path of the compiled client."""
    target = BUILD / "cpp"
    built("cmake", "-S", HERE / "cpp", "-B", target, f"-DPROTOS={PROTOS}", where=HERE)
    built("cmake", "--build", target, "--parallel", "2", where=HERE)
    return target / "client"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_cpp_plays_looks_up_and_is_refused(tmp_path: Path, client: Path, tls: bool) -> None:
    checked(tmp_path, [client], tls=tls)
