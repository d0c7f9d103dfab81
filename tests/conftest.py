"""A PostgreSQL server for the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgresql import Server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server."""
    from tests.postgresql import server

    with server() as running:
        yield running


@pytest.fixture(scope="session")
def chosen(request: pytest.FixtureRequest) -> Server | None:
    """The server on which the store's and the crash tests run; None for SQLite."""
    return request.getfixturevalue("postgresql") if request.config.getoption("--postgresql") else None
