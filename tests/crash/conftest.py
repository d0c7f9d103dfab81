"""With --postgresql, the databases of all trials are on a PostgreSQL server."""

from __future__ import annotations

import pytest

from tests.crash import crash_rig
from tests.postgresql import Server


@pytest.fixture(autouse=True)
def store(chosen: Server | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server for the trials of a test; None for SQLite."""
    monkeypatch.setattr(crash_rig, "store", chosen)
