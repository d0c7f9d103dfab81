"""A server under siege: a real process, two bots that play on it all the while, and what an attack may cost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.wire.raw_http2 import Line
from tests.wire.siege import Siege


@pytest.fixture(scope="module")
def fortress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    """One for a module of tests."""
    with Siege.begun(tmp_path_factory.mktemp("siege") / "data") as siege:
        yield siege


@pytest.fixture
def siege(fortress: Siege) -> Iterator[Siege]:
    """The same for one test, after which everything must be as before."""
    with fortress.undisturbed():
        yield fortress


@pytest.fixture
def line(siege: Siege) -> Iterator[Line]:
    """A connection that has greeted."""
    with Line(siege.address) as line:
        yield line
