"""Fixtures with a real server process under load: two clients talk to the server while a test attacks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.trio_grpc.loaded_server import LoadedServer
from tests.trio_grpc.raw_http2 import RawConnection


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedServer]:
    """A server for all tests of a module."""
    with LoadedServer.started(tmp_path_factory.mktemp("loaded-server")) as server:
        yield server


@pytest.fixture
def loaded_server(module_server: LoadedServer) -> Iterator[LoadedServer]:
    """The module's server, for one test that must not disturb it."""
    with module_server.undisturbed():
        yield module_server


@pytest.fixture
def connection(loaded_server: LoadedServer) -> Iterator[RawConnection]:
    """A connection that has sent the preface and SETTINGS."""
    with RawConnection(loaded_server.address) as connection:
        yield connection
