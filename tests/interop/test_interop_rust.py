"""A client that uses tonic, an independent gRPC implementation in Rust, plays a match on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.interop_rig import BUILD, HERE, PROTOS, built, checked, tool

pytestmark = [pytest.mark.long, tool("cargo")]


@pytest.fixture(scope="module")
def client() -> Path:
    """Return the path of the compiled client."""
    target = BUILD / "rust"
    built("cargo", "build", "--locked", where=HERE / "rust", PROTOS=str(PROTOS), CARGO_TARGET_DIR=str(target))
    return target / "debug" / "client"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_rust_plays_looks_up_and_is_refused(tmp_path: Path, client: Path, tls: bool) -> None:
    checked(tmp_path, [client], tls=tls)
