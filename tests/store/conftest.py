"""Data directories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import trio

from arena.store.base.directory import database_of
from arena.store.store import open_store
from tests.postgresql import Server, named_in
from tests.store.jobs import NOW


@pytest.fixture
def directory(tmp_path: Path, chosen: Server | None) -> Path:
    """A path that does not exist yet, or a folder that only names its new database."""
    return tmp_path / "data" if chosen is None else named_in(tmp_path / "data", chosen)


async def _make(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass


@pytest.fixture(scope="session")
def new_store(tmp_path_factory: pytest.TempPathFactory, chosen: Server | None) -> Path:
    directory = tmp_path_factory.mktemp("new") / "data"
    if chosen is not None:
        named_in(directory, chosen)
    trio.run(_make, directory)
    return directory


@pytest.fixture
def data(tmp_path: Path, new_store: Path, chosen: Server | None) -> Path:
    """A directory with a new, empty store."""
    directory = tmp_path / "data"
    shutil.copytree(new_store, directory)
    if chosen is not None:
        named_in(directory, chosen, template=database_of(new_store).path.read_text().strip().rpartition("/")[2])
    return directory
