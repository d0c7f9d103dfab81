"""Options of the test run, and settings for Hypothesis: the same cases in every run, with no time limit per case."""

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

# A shell that runs the tests in the background makes them ignore Ctrl-C, and every process that they start would
# inherit this.
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
"""The environment variable that makes a started program measure its coverage."""
STARTED = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind", "socket.connect")
"""Audit events with which Python reports a started process or a used socket."""
ROOT = Path(__file__).parent
COMPILED = str(ROOT / "build" / "compiled")
OF_THE_WHOLE = ("cli/test_cli_play.py", "conformance", "end_to_end", "test_library.py", "tools/test_tools_compile.py")
"""Test files that also run compiled. They test no compiled module directly, but their code calls compiled modules."""
LONG_WHEN_COMPILED = {
    "api": ("list_pages", "proto_comments", "query_services", "reasons", "rows", "watching"),
    "end_to_end": (
        "backup", "casual", "data_directory", "event", "floods", "fuzz", "ladder", "luck", "matches",
        "missed_reports", "moderation", "parking", "postgresql", "protocol_page", "proxies", "search",
        "secrets_in_logs", "start", "starving", "stop", "thinking", "tls", "untrusted_memory", "upgrade",
        "writer_process",
    ),
    "replay": ("nullern_render", "render", "review", "table", "timeline"),
    "scheduling": ("clock", "event", "information_gain", "versions"),
    "server": ("baselines", "publisher", "registrations", "webhook"),
    "store": (
        "audit", "baselines", "bots", "database", "directory", "disk_full", "flags", "kept_ladders", "killed",
        "ladders", "log", "match_search", "matches", "moderation", "opponents", "pages", "pair_quota", "parking",
        "postgresql", "publishing", "ratings", "replay_files", "schema", "statements", "tokens",
        "version_standings", "versions", "writer", "writer_process",
    ),
}  # fmt: skip
"""By folder, files that run compiled only with --long, because little of their time is spent in a decision's code."""

os.environ["ARENA_BUILD"] = "sources"  # the code under test is the requested build
# Set it here, because the next conftest.py may import compiled modules. Use the environment, because test workers have
# no arguments and processes started by tests must use the same build.
if "--compiled" in sys.argv and COMPILED not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONSAFEPATH"] = "1"  # otherwise the started processes would import the checkout first
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (COMPILED, os.environ.get("PYTHONPATH"))))
if COMPILED in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    sys.path.insert(0, COMPILED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")
    parser.addoption("--quick", action="store_true", help="leave out what needs a process, a socket or much time")
    parser.addoption("--postgresql", action="store_true", help="run the tests of store and crash on PostgreSQL")
    parser.addoption("--compiled", action="store_true", help="run with what `make compiled` compiled")


def pytest_configure(config: pytest.Config) -> None:
    """With --compiled and no paths, run the tests of the packages with compiled modules."""
    if config.getoption("--compiled") and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        from tools.compile import compiled

        rooms = {path.parts[path.parts[0] == "arena"] for path in compiled(ROOT)}
        config.args = [f"tests/{name}" for name in sorted({*rooms, *OF_THE_WHOLE}) if (ROOT / "tests" / name).exists()]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick, skip whole folders without importing them."""
    return (config.getoption("--quick") and collection_path.name in OF_PROCESSES + SLOW_TO_IMPORT) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in OF_PROCESSES or config.getoption("--postgresql"):
            item.add_marker("process")
        if item.path.parent.name in UNMEASURED:
            item.add_marker("unmeasured")
        room, subject = item.path.parent.name, item.path.stem.split("_", 2)[-1]
        if config.getoption("--compiled") and subject in LONG_WHEN_COMPILED.get(room, ()):
            item.add_marker("long")
        if config.getoption("--compiled") and (marker := item.get_closest_marker("sources_only")):
            (reason,) = marker.args
            item.add_marker(pytest.mark.skip(reason=f"runs with the sources only: {reason}"))
        if config.getoption("--postgresql") and (marker := item.get_closest_marker("sqlite_only")):
            (reason,) = marker.args
            item.add_marker(pytest.mark.skip(reason=f"on SQLite only: {reason}"))
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
    """Do not measure coverage in programs that tests marked `unmeasured` start."""
    told = os.environ.pop(TOLD, None) if "unmeasured" in item.keywords else None
    try:
        return (yield)
    finally:
        if told is not None:
            os.environ[TOLD] = told


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Do not measure coverage in tests marked `unmeasured`: a tracer triples their run time."""
    measuring = Coverage.current() if "unmeasured" in item.keywords else None
    if measuring is None:
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        with warnings.catch_warnings():
            # these modules are already imported, so coverage would warn
            warnings.simplefilter("ignore", CoverageWarning)
            measuring.start()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the processor time of the run, including all programs that the tests started. It hardly depends on the
    machine's other work.
    """
    if sys.platform == "win32":
        return
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(each.ru_utime + each.ru_stime for each in used)
    terminalreporter.write_line(f"processor time: {seconds:.0f} s")


_started: set[str] = set()
"""The audit events of `STARTED` that the running test has caused."""


@sys.addaudithook
def _note(event: str, _: tuple[object, ...]) -> None:
    if event in STARTED:
        _started.add(event)


def pytest_runtest_logstart() -> None:
    _started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """`make test-quick` excludes tests marked `process`, so no other test may start a process or use a socket."""
    result = yield
    if _started and "process" not in item.keywords:
        pytest.fail(f"it needs @pytest.mark.process: {', '.join(sorted(_started))}", pytrace=False)
    return result
