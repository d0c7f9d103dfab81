"""A server in memory with two bots. Its small game can be read from a journal."""

from collections.abc import Sequence
from inspect import iscoroutinefunction
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from arena.replay import read
from engine.registry import GAMES
from tests.server.server_rig import GAME, Bot, Hall, MemoryStore


@pytest.fixture(autouse=True)
def _counting_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "GAMES", {**GAMES, GAME.name: GAME})


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def ann(store: MemoryStore) -> Bot:
    return Bot(store.register("ann"))


@pytest.fixture
def bob(store: MemoryStore) -> Bot:
    return Bot(store.register("bob"))


@pytest.fixture
def hall(store: MemoryStore, nursery: trio.Nursery) -> Hall:
    """A server with a virtual clock."""
    return Hall(store, nursery)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.function) and _has_virtual_clock(item):
            item.add_marker(pytest.mark.trio(run=_run_with_virtual_clock), append=False)


def _has_virtual_clock(item: pytest.Function) -> bool:
    return "hall" in item.fixturenames or item.get_closest_marker("virtual_clock") is not None


def _run_with_virtual_clock(test: Any, *, clock: None, instruments: Sequence[trio.abc.Instrument]) -> Any:
    # pytest-trio looks for a clock only in the arguments of the test
    return trio.run(test, clock=MockClock(autojump_threshold=0), instruments=instruments)
