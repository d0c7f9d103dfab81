"""Data directories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import trio

from arena.store.store import open_store
from tests.store.jobs import NOW


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A path that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture(scope="session")
def new_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("new") / "data"

    async def make() -> None:
        async with open_store(directory, NOW):
            pass

    trio.run(make)
    return directory


@pytest.fixture
def data(directory: Path, new_store: Path) -> Path:
    """A directory with a new, empty store."""
    shutil.copytree(new_store, directory)
    return directory
