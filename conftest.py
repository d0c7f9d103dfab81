"""Options of the test run; for Hypothesis: the same cases every time, each as long as it takes on a loaded machine."""

import os
import sys
import warnings
from collections.abc import Generator
from pathlib import Path

import pytest
from coverage import Coverage
from coverage.exceptions import CoverageWarning
from hypothesis import settings

settings.register_profile("arena", deadline=None, derandomize=True)
settings.load_profile("arena")

COMPILED = str(Path(__file__).parent / "build" / "compiled")

# Here, since the next conftest.py may import what is compiled; by the environment, since the processes that share the
# tests have no arguments, and those that tests start shall run the same.
if "--compiled" in sys.argv and COMPILED not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONSAFEPATH"] = "1"  # or the checkout would come first in what the tests start
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (COMPILED, os.environ.get("PYTHONPATH"))))
if COMPILED in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    sys.path.insert(0, COMPILED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")
    parser.addoption("--compiled", action="store_true", help="run with what `make compiled` compiled")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        skip = pytest.mark.skip(reason="takes minutes; run with --long")
        for item in items:
            if "long" in item.keywords:
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Coverage looks away from tests marked `unmeasured`: with a tracer they take three times as long."""
    measuring = Coverage.current() if "unmeasured" in item.keywords else None
    if measuring is None:
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoverageWarning)  # of course these modules are imported already
            measuring.start()
