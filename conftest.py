"""Options of the test run; for Hypothesis: the same cases every time, each as long as it takes on a loaded machine."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Generator
from pathlib import Path

import pytest
from coverage import Coverage
from coverage.exceptions import CoverageWarning
from hypothesis import settings

if sys.platform != "win32":
    import resource

# A shell that runs the tests in the background has Ctrl-C ignored, which all they start would inherit.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("arena", deadline=None, derandomize=True)
settings.load_profile("arena")

OF_PROCESSES = ("bots", "cli", "clients", "crash", "end_to_end", "interop", "processes", "web")
"""Folders in which every test counts as marked `process`."""
UNMEASURED = ("bench", "bots", "crash", "end_to_end", "interop", "web")
"""Folders in which every test counts as marked `unmeasured`."""
SLOW_TO_IMPORT = ("adapters",)
TOLD = "COVERAGE_PROCESS_CONFIG"
"""The variable by which a program that is started knows that it is measured."""
STARTED = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind", "socket.connect")
"""What Python tells its auditors where a process is started, or a socket used."""
ROOT = Path(__file__).parent
COMPILED = str(ROOT / "build" / "compiled")
OF_THE_WHOLE = ("conformance", "end_to_end", "test_library.py", "tools/test_tools_compile.py")
"""Tests that also run compiled, although no module of theirs is: they go through modules that are."""
LONG_WHEN_COMPILED = {
    "api": ("list_pages", "proto_comments", "query_services", "reasons", "rows", "watching"),
    "end_to_end": (
        "backup", "casual", "data_directory", "floods", "fuzz", "ladder", "luck", "matches",
        "missed_reports", "moderation", "parking", "protocol_page", "proxies", "search", "secrets_in_logs",
        "start", "starving", "stop", "thinking", "tls", "untrusted_memory", "upgrade", "writer_process",
    ),
    "replay": ("nullern_render", "render", "review", "table", "timeline"),
    "scheduling": ("clock", "event", "information_gain", "versions"),
    "server": ("baselines", "publisher", "registrations", "webhook"),
    "store": (
        "audit", "baselines", "bots", "database", "flags", "kept_ladders", "ladders", "log", "match_search", "matches",
        "moderation", "opponents", "pages", "pair_quota", "parking", "publishing", "ratings", "replay_files", "schema",
        "statements", "tokens", "version_standings", "versions", "writer", "writer_process",
    ),
}  # fmt: skip
"""By folder, files that run compiled with --long only: few of their seconds are spent on the way of a decision."""

os.environ["ARENA_BUILD"] = "sources"  # what is under test is what was asked for
# Here, since the next conftest.py may import what is compiled; by the environment, since the processes that share the
# tests have no arguments, and those that tests start shall run the same.
if "--compiled" in sys.argv and COMPILED not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONSAFEPATH"] = "1"  # or the checkout would come first in what the tests start
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (COMPILED, os.environ.get("PYTHONPATH"))))
if COMPILED in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    sys.path.insert(0, COMPILED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")
    parser.addoption("--quick", action="store_true", help="leave out what needs a process, a socket or much time")
    parser.addoption("--compiled", action="store_true", help="run with what `make compiled` compiled")


def pytest_configure(config: pytest.Config) -> None:
    """With --compiled and no paths, run the tests of those rooms that have compiled modules."""
    if config.getoption("--compiled") and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        from tools.compile import compiled

        rooms = {path.parts[path.parts[0] == "arena"] for path in compiled(ROOT)}
        config.args = [f"tests/{name}" for name in sorted({*rooms, *OF_THE_WHOLE}) if (ROOT / "tests" / name).exists()]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick whole folders are not even imported."""
    return (config.getoption("--quick") and collection_path.name in OF_PROCESSES + SLOW_TO_IMPORT) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in OF_PROCESSES:
            item.add_marker("process")
        if item.path.parent.name in UNMEASURED:
            item.add_marker("unmeasured")
        room, subject = item.path.parent.name, item.path.stem.split("_", 2)[-1]
        if config.getoption("--compiled") and subject in LONG_WHEN_COMPILED.get(room, ()):
            item.add_marker("long")
        if config.getoption("--compiled") and (marker := item.get_closest_marker("sources_only")):
            (reason,) = marker.args
            item.add_marker(pytest.mark.skip(reason=f"runs with the sources only: {reason}"))
    if config.getoption("--quick"):
        left_out = [item for item in items if {"process", "thorough", "unmeasured", "long"} & set(item.keywords)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    if not config.getoption("--long"):
        skip = pytest.mark.skip(reason="takes minutes; run with --long")
        for item in items:
            if "long" in item.keywords:
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Coverage looks away from the programs, too, that tests marked `unmeasured` start."""
    told = os.environ.pop(TOLD, None) if "unmeasured" in item.keywords else None
    try:
        return (yield)
    finally:
        if told is not None:
            os.environ[TOLD] = told


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the run cost, whatever else the machine had to do: the tests and all programs that they started."""
    if sys.platform == "win32":
        return
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(each.ru_utime + each.ru_stime for each in used)
    terminalreporter.write_line(f"processor time: {seconds:.0f} s")


_started: set[str] = set()
"""The names in `STARTED` that the running test has used."""


@sys.addaudithook
def _note(event: str, _: tuple[object, ...]) -> None:
    if event in STARTED:
        _started.add(event)


def pytest_runtest_logstart() -> None:
    _started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """`make test-quick` leaves out the tests marked `process`, so no other test may start one or use a socket."""
    result = yield
    if _started and "process" not in item.keywords:
        pytest.fail(f"it needs @pytest.mark.process: {', '.join(sorted(_started))}", pytrace=False)
    return result
