"""A match on a real Dask scheduler with two workers over TCP. The results are the same, whatever happens to a
worker.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, shown
from tests.local.bots import FIRST, written

pytestmark = pytest.mark.process

MATCH = ("match", "house:counter", "house:careful", "--game", "nullern", "--seats", "3", "--seed", "5")


class Scheduler(NamedTuple):
    address: str
    process: subprocess.Popen[bytes]


@contextmanager
def program(*words: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Dask program during the `with` block without its log and without coverage.

    When `sys.path` changes, coverage drops its record of modules imported since its start, including imports in Dask's
    other threads at that moment.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    with subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(done: Callable[[], object], what: str) -> None:
    """Poll while other processes work."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"{what} does not come"
        time.sleep(0.05)


@pytest.fixture
def scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scheduler]:
    """A scheduler that gives up a task after two workers have died while running it."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    file = tmp_path / "scheduler.json"
    words = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard")
    with program(*words, "--scheduler-file", file) as process:
        until(lambda: file.exists() and file.read_text().endswith("}"), "the scheduler")
        yield Scheduler(json.loads(file.read_text())["address"], process)


@pytest.fixture
def workers(scheduler: Scheduler, tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two workers without automatic restart."""
    with ExitStack() as stack:
        found = [
            stack.enter_context(
                program(
                    *("distributed.cli.dask_worker", scheduler.address, "--nthreads", 1),
                    *("--no-nanny", "--no-dashboard", "--local-directory", tmp_path / f"worker-{number}"),
                )
            )
            for number in range(2)
        ]
        import distributed

        with distributed.Client(scheduler.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(2, timeout=PATIENCE)
        yield found


def times_left_out(document: dict[str, Any]) -> dict[str, Any]:
    for bot in document["comparison"]["bots"]:
        del bot["think_us"], bot["slowest_us"]
    return document


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def begun(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ARENA, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=None
    )


def test_a_worker_that_is_killed_changes_nothing(
    scheduler: Scheduler, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    out = tmp_path / "some.sets"
    with begun(*MATCH, "--sets", 150, "--dask", scheduler.address, "--out", out, "--json") as match:
        until(lambda: lines(out) > 5, "a set")
        workers[0].kill()
        there = lines(out)
        text, said = match.communicate(timeout=PATIENCE)
    assert match.returncode == 0, said
    assert there < 151, "it was killed in the middle"
    numbers = [json.loads(line)["set"] for line in out.read_text().splitlines()[1:]]
    assert sorted(numbers) == [*range(150)], "no set is lost or doubled"
    here = json.loads(shown(*MATCH, "--sets", 150, "--concurrency", 1, "--json"))
    assert times_left_out(json.loads(text)) == times_left_out(here)
    noise = [line for line in said.splitlines() if "sets" not in line]
    assert not noise, "Dask's logs are quiet"


def test_a_scheduler_that_is_gone_is_said_and_the_match_goes_on_later(
    scheduler: Scheduler, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    out = tmp_path / "some.sets"
    with begun(*MATCH, "--sets", 100_000, "--dask", scheduler.address, "--out", out) as match:
        until(lambda: lines(out) > 5, "a set")
        scheduler.process.kill()
        _, said = match.communicate(timeout=PATIENCE)
    assert match.returncode == 1
    assert f"Error: Dask at {scheduler.address}: the scheduler is gone, with all unfinished tasks" in said
    assert "Traceback" not in said
    there = {json.loads(line)["set"] for line in out.read_text().splitlines()[1:]}
    shown(*MATCH, "--sets", len(there) + 2, "--concurrency", 1, "--out", out)
    numbers = [json.loads(line)["set"] for line in out.read_text().splitlines()[1:]]
    assert sorted(numbers) == sorted(there | {*range(len(there) + 2)}), "no set is lost or doubled"


def test_a_bot_that_fails_is_named_and_one_that_crashes_its_workers_too(
    scheduler: Scheduler, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Play the new version of a changed file, even on workers that have played the old version."""
    spec = written(tmp_path, FIRST)
    words = ("match", spec, "house:random", *MATCH[3:], "--sets", 30, "--dask", scheduler.address)
    for text, expected in (
        (FIRST, ""),
        (FIRST.replace("decision.legal[0]", "1 // 0"), "1 // 0"),
        (FIRST.replace("return", "import os; os._exit(3)\n        return"), f"one of {spec}, house:random"),
    ):
        written(tmp_path, text)
        with begun(*words) as match:
            _, said = match.communicate(timeout=PATIENCE)
        assert match.returncode == bool(expected), said
        assert expected in said
        assert (f"{spec} failed in seat" in said) is (expected == "1 // 0")
    with begun(*MATCH, "--sets", 3, "--dask", scheduler.address) as match:
        _, said = match.communicate(timeout=PATIENCE)
    assert match.returncode == 1
    assert f"it has no workers: start some with `dask worker {scheduler.address} --nthreads 1`" in said


def test_a_bot_that_thinks_for_long_is_named_while_it_does(
    scheduler: Scheduler, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    named = tmp_path / "named"
    waits = "import os, time; until = time.monotonic() + 30\n        while time.monotonic() < until"
    waits += f" and not os.path.exists({str(named)!r}): time.sleep(0.01)\n        return"
    spec = written(tmp_path, FIRST.replace("return", waits))
    with begun("match", spec, "house:random", *MATCH[3:], "--sets", 2, "--dask", scheduler.address) as match:
        assert match.stderr is not None
        said = match.stderr.readline()
        named.touch()
        match.communicate(timeout=PATIENCE)
    assert re.match(f"{spec} has been thinking for 1[0-9] s, in seat ", said), said
    assert match.returncode == 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--dask", "nonsense"), 1, "Dask at nonsense: an address is written tcp://HOST:PORT"),
        (("--dask", "tcp://127.0.0.1:1"), 1, "Dask at tcp://127.0.0.1:1: no scheduler answers there within 10 s"),
        (("--dask", "tcp://127.0.0.1:1", "--concurrency", 2), 2, "--concurrency is for this machine"),
    ],
)
def test_an_address_that_is_wrong_is_named(words: tuple[object, ...], status: int, said: str) -> None:
    with begun(*MATCH, *words) as match:
        _, told = match.communicate(timeout=PATIENCE)
    assert match.returncode == status
    assert said in told
    assert "Traceback" not in told


def test_without_dask_it_says_what_to_install() -> None:
    program_text = (
        "import sys; sys.modules['distributed'] = None; from arena.cli.main import main;"
        f"main({[*MATCH, '--dask', 'tcp://127.0.0.1:1']!r})"
    )
    command = [sys.executable, "-c", program_text]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 1
    assert "Dask is not installed: pip install distributed" in ran.stderr
