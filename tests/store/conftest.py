"""Data directories."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from arena.store.store import open_store
from tests.store.jobs import NOW


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Not there yet."""
    return tmp_path / "data"


@pytest.fixture
def data(directory: Path) -> Path:
    """With a new, empty store."""

    async def make() -> None:
        async with open_store(directory, NOW):
            pass

    trio.run(make)
    return directory
